import { z } from "zod";
import { isoTime, pageOfMany, text } from "../../../model/fields.ts";
import { endpoint } from "../../endpoint.ts";
import { pageOf } from "../../schemas/answer.ts";

const change = z
  .strictObject({
    id: z.string(),
    at: isoTime(),
    who: z.strictObject({
      kind: z.enum(["key", "operator", "link", "nobody"]),
      id: z.string().nullable().meta({ description: "Id of the key or the link" }),
      name: z.string().nullable().meta({ description: "Name that the key had" }),
    }),
    account: z.string().nullable(),
    what: z.string().meta({ description: "The `operationId` of the request" }),
    target: z.string().nullable().meta({ description: "A number, or the id of a record" }),
    changes: z.record(z.string(), z.unknown()).nullable().meta({
      description: "Fields of the request. Possible secrets show as `(given)`, addresses as their host",
    }),
    request_id: z.string(),
    address: z.string(),
  })
  .meta({ id: "Change" });

/** `GET /admin/log`: kept for AUDIT_LOG_DAYS. */
export const listAllChanges = endpoint({
  method: "GET",
  path: "/admin/log",
  access: { by: "operator" },
  summary: "Changes in all accounts and who made them, newest first; sends do not count as changes",
  message: "Changes.",
  input: z.object({ account: text(1, 255).optional(), ...pageOfMany() }),
  output: pageOf(change),
});

/** `GET /log`: for keys of all numbers and recipients; one that may not do everything is not told what was asked for. */
export const listChanges = endpoint({
  method: "GET",
  path: "/log",
  access: { by: "key", permission: "keys" },
  summary: "Changes in the account and who made them, newest first; sends do not count as changes",
  message: "Changes.",
  input: z.object(pageOfMany()),
  output: pageOf(change),
});
