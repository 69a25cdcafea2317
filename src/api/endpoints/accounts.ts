import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { account, accountChange, key, newAccount, newKey, ownAccount } from "../schemas/accounts.ts";
import { answer, listOf, record } from "../schemas/answer.ts";
import { device, newDevice } from "../schemas/numbers.ts";

const operator = { by: "operator" } as const;
const keys = { by: "key", permission: "keys" } as const;
const nothing = z.object({});
const withSecret = { api_key: z.string() };

export const createAccount = endpoint({
  method: "POST",
  path: "/admin/accounts",
  access: operator,
  summary: "Make an account and its first key",
  message: "Account created. The key is shown this once.",
  input: newAccount,
  output: answer({ account, ...withSecret }),
});

export const listAccounts = endpoint({
  method: "GET",
  path: "/admin/accounts",
  access: operator,
  summary: "All accounts",
  message: "Accounts.",
  input: nothing,
  output: listOf(account),
});

export const getAccount = endpoint({
  method: "GET",
  path: "/admin/accounts/{id}",
  access: operator,
  summary: "One account",
  message: "Account.",
  input: nothing,
  output: record(account),
});

export const changeAccount = endpoint({
  method: "PATCH",
  path: "/admin/accounts/{id}",
  access: operator,
  summary: "Rename, change the plan, enable or disable",
  message: "Account changed.",
  input: accountChange,
  output: record(account),
});

export const deleteAccount = endpoint({
  method: "DELETE",
  path: "/admin/accounts/{id}",
  access: operator,
  summary: "Log its numbers out and erase everything that is the account's",
  message: "Account deleted.",
  input: nothing,
  output: answer({}),
});

export const listAccountKeys = endpoint({
  method: "GET",
  path: "/admin/accounts/{id}/api-keys",
  access: operator,
  summary: "Keys of an account",
  message: "API keys.",
  input: nothing,
  output: listOf(key),
});

export const createAccountKey = endpoint({
  method: "POST",
  path: "/admin/accounts/{id}/api-keys",
  access: operator,
  summary: "Make a key for an account",
  message: "API key created. It is shown this once.",
  errors: ["PLAN_LIMIT"],
  input: newKey,
  output: record(key, withSecret),
});

export const deleteAccountKey = endpoint({
  method: "DELETE",
  path: "/admin/accounts/{id}/api-keys/{keyId}",
  access: operator,
  summary: "Delete a key of an account",
  message: "API key deleted.",
  input: nothing,
  output: answer({}),
});

export const listAccountDevices = endpoint({
  method: "GET",
  path: "/admin/accounts/{id}/devices",
  access: operator,
  summary: "Numbers of an account",
  message: "Devices.",
  input: nothing,
  output: listOf(device),
});

export const createAccountDevice = endpoint({
  method: "POST",
  path: "/admin/accounts/{id}/devices",
  access: operator,
  summary: "Register a number for an account without linking it",
  message: "Device registered.",
  errors: ["PLAN_LIMIT"],
  input: newDevice,
  output: record(device),
});

export const getOwnAccount = endpoint({
  method: "GET",
  path: "/account",
  access: { by: "key", permission: null },
  summary: "The key's own account, its limits and what is used of them",
  message: "Account.",
  input: nothing,
  output: record(ownAccount),
});

export const listKeys = endpoint({
  method: "GET",
  path: "/api-keys",
  access: keys,
  summary: "Keys of the account",
  message: "API keys.",
  input: nothing,
  output: listOf(key),
});

export const createKey = endpoint({
  method: "POST",
  path: "/api-keys",
  access: keys,
  summary: "Make a key that may do no more than this one",
  message: "API key created. It is shown this once.",
  errors: ["PLAN_LIMIT"],
  input: newKey,
  output: record(key, withSecret),
});

export const deleteKey = endpoint({
  method: "DELETE",
  path: "/api-keys/{id}",
  access: keys,
  summary: "Delete a key, at once",
  message: "API key deleted.",
  input: nothing,
  output: answer({}),
});

export const rotateKey = endpoint({
  method: "POST",
  path: "/api-keys/{id}/rotate",
  access: keys,
  summary: "Give a key a new secret; the old one ends at once",
  message: "API key rotated. The new one is shown this once.",
  input: nothing,
  output: record(key, withSecret),
});
