import { z } from "zod";
import { pageOfFew } from "../../../model/fields.ts";
import { endpoint } from "../../endpoint.ts";
import {
  account,
  accountChange,
  key,
  newAccount,
  newKey,
  ownAccount,
  strongerKey,
} from "../../schemas/accounts.ts";
import { answer, pageOf, record } from "../../schemas/answer.ts";
import { device, newDevice } from "../../schemas/numbers.ts";

const operator = { by: "operator" } as const;
const keys = { by: "key", permission: "keys" } as const;
const nothing = z.object({});
const paged = z.object(pageOfFew());
const withSecret = { api_key: z.string() };

/** `POST /admin/accounts`: the answer is the only place where the first key can be read. */
export const createAccount = endpoint({
  method: "POST",
  path: "/admin/accounts",
  access: operator,
  summary: "Create an account and its first key",
  message: "Account created. The key is shown only now.",
  input: newAccount,
  output: answer({ account, ...withSecret }),
});

/** `GET /admin/accounts`: of all customers. */
export const listAccounts = endpoint({
  method: "GET",
  path: "/admin/accounts",
  access: operator,
  summary: "Accounts, newest first",
  message: "Accounts.",
  input: paged,
  output: pageOf(account),
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

/** `PATCH /admin/accounts/{id}`: what is not given stays as it is. */
export const changeAccount = endpoint({
  method: "PATCH",
  path: "/admin/accounts/{id}",
  access: operator,
  summary: "Rename, change the plan, enable or disable",
  message: "Account changed.",
  input: accountChange,
  output: record(account),
});

/** `DELETE /admin/accounts/{id}`: cannot be undone. */
export const deleteAccount = endpoint({
  method: "DELETE",
  path: "/admin/accounts/{id}",
  access: operator,
  summary: "Log out the account's numbers and erase all its data",
  message: "Account deleted.",
  input: nothing,
  output: answer({}),
});

/** `GET /admin/accounts/{id}/api-keys`: without their secrets. */
export const listAccountKeys = endpoint({
  method: "GET",
  path: "/admin/accounts/{id}/api-keys",
  access: operator,
  summary: "Keys of an account, newest first",
  message: "API keys.",
  input: paged,
  output: pageOf(key),
});

/** `POST /admin/accounts/{id}/api-keys`: the operator may give a key every permission. */
export const createAccountKey = endpoint({
  method: "POST",
  path: "/admin/accounts/{id}/api-keys",
  access: operator,
  summary: "Create a key for an account",
  message: "API key created. It is shown only now.",
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
  summary: "Numbers of an account, newest first",
  message: "Devices.",
  input: paged,
  output: pageOf(device),
});

/** `POST /admin/accounts/{id}/devices`: counts towards the account's plan. */
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

/** `GET /account`: any key may ask. */
export const getOwnAccount = endpoint({
  method: "GET",
  path: "/account",
  access: { by: "key", permission: null },
  summary: "The key's own account, its limits and its usage",
  message: "Account.",
  input: nothing,
  output: record(ownAccount),
});

/** `GET /api-keys`: those of the account whose key asks; of one that may do more, only which it is. */
export const listKeys = endpoint({
  method: "GET",
  path: "/api-keys",
  access: keys,
  summary: "Keys of the account, newest first",
  message: "API keys.",
  input: paged,
  output: pageOf(z.union([key, strongerKey])),
});

/** `POST /api-keys`: PERMISSION_DENIED when the new key could do more than the one that asks. */
export const createKey = endpoint({
  method: "POST",
  path: "/api-keys",
  access: keys,
  summary: "Create a key that may do no more than the calling key",
  message: "API key created. It is shown only now.",
  errors: ["PLAN_LIMIT"],
  input: newKey,
  output: record(key, withSecret),
});

/** `DELETE /api-keys/{id}`: the key is refused from the next request on. */
export const deleteKey = endpoint({
  method: "DELETE",
  path: "/api-keys/{id}",
  access: keys,
  summary: "Delete a key, at once",
  message: "API key deleted.",
  input: nothing,
  output: answer({}),
});

/** `POST /api-keys/{id}/rotate`: PERMISSION_DENIED when the key could do more than the one that asks. */
export const rotateKey = endpoint({
  method: "POST",
  path: "/api-keys/{id}/rotate",
  access: keys,
  summary: "Give a key a new secret; the old secret stops working at once",
  message: "API key rotated. The new key is shown only now.",
  input: nothing,
  output: record(key, withSecret),
});
