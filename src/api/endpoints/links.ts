import { z } from "zod";
import { pageOfFew } from "../../model/fields.ts";
import { endpoint } from "../endpoint.ts";
import { answer, pageOf, record } from "../schemas/answer.ts";
import { link, madeLink, madeLinkFields, newLink, newMagicLink } from "../schemas/sessions.ts";

const devices = { by: "key", permission: "devices" } as const;
const operator = { by: "operator" } as const;
const make = {
  method: "POST",
  message: "Link created. It is shown only now.",
  errors: ["PLAN_LIMIT"],
  output: record(madeLink, madeLinkFields),
} as const;
const list = {
  method: "GET",
  message: "Links.",
  input: z.object(pageOfFew()),
  output: pageOf(link),
} as const;
const remove = {
  method: "DELETE",
  message: "Link withdrawn.",
  input: z.object({}),
  output: answer({}),
} as const;

/** `POST /devices/{number}/magic-link`: it needs `qr` and `webhooks` as well, which the link gives. */
export const createLink = endpoint({
  ...make,
  errors: [...make.errors],
  path: "/devices/{number}/magic-link",
  access: devices,
  input: newMagicLink,
  summary: "Create a link for a customer to link one number and set its webhook, and nothing else",
});

/** `GET /links`: of the numbers that the key may use. */
export const listLinks = endpoint({
  ...list,
  path: "/links",
  access: devices,
  summary: "Valid links, newest first",
});

/** `DELETE /devices/{number}/magic-link/{id}`: whoever came by it is signed out. */
export const deleteLink = endpoint({
  ...remove,
  path: "/devices/{number}/magic-link/{id}",
  access: devices,
  summary: "Withdraw a link at once",
});

export const createAccountLink = endpoint({
  ...make,
  errors: [...make.errors],
  path: "/admin/accounts/{id}/links",
  access: operator,
  input: newLink,
  summary: "Create a link for a number of an account",
});

export const listAccountLinks = endpoint({
  ...list,
  path: "/admin/accounts/{id}/links",
  access: operator,
  summary: "Valid links of an account, newest first",
});

export const deleteAccountLink = endpoint({
  ...remove,
  path: "/admin/accounts/{id}/links/{linkId}",
  access: operator,
  summary: "Withdraw a link of an account",
});
