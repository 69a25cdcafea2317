import { z } from "zod";
import { isoTime, pageOfFew } from "../../model/fields.ts";
import { endpoint } from "../endpoint.ts";
import { answer, pageOf, record } from "../schemas/answer.ts";
import { link, newLink } from "../schemas/sessions.ts";

const devices = { by: "key", permission: "devices" } as const;
const operator = { by: "operator" } as const;
const withAddress = {
  url: z.string().meta({ description: "What the customer opens; it is told this once" }),
  expires_at: isoTime(),
};
const make = {
  method: "POST",
  message: "Link made. It is shown this once.",
  errors: ["PLAN_LIMIT"],
  input: newLink,
  output: record(link, withAddress),
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

/** `POST /links`: registers the number when it is unknown. */
export const createLink = endpoint({
  ...make,
  errors: [...make.errors],
  path: "/links",
  access: devices,
  summary: "Make a link with which a customer links one number and sets its webhook, and nothing else",
});

/** `GET /links`: of the numbers that the key may use. */
export const listLinks = endpoint({
  ...list,
  path: "/links",
  access: devices,
  summary: "Links that are not over, newest first",
});

/** `DELETE /links/{id}`: whoever came by it is signed out. */
export const deleteLink = endpoint({
  ...remove,
  path: "/links/{id}",
  access: devices,
  summary: "Withdraw a link, at once",
});

export const createAccountLink = endpoint({
  ...make,
  errors: [...make.errors],
  path: "/admin/accounts/{id}/links",
  access: operator,
  summary: "Make a link for a number of an account",
});

export const listAccountLinks = endpoint({
  ...list,
  path: "/admin/accounts/{id}/links",
  access: operator,
  summary: "Links of an account that are not over, newest first",
});

export const deleteAccountLink = endpoint({
  ...remove,
  path: "/admin/accounts/{id}/links/{linkId}",
  access: operator,
  summary: "Withdraw a link of an account",
});
