import { z } from "zod";
import { endpoint } from "../../endpoint.ts";
import { record } from "../../schemas/answer.ts";

const PATH = "/admin/accounts/{id}/devices/{number}/contacts/{contact}";

/** `GET …/contacts/{contact}`: one line of JSON for each row. */
export const exportContact = endpoint({
  method: "GET",
  path: PATH,
  access: { by: "operator" },
  summary: "Everything that is stored of one contact of a number, as lines of JSON",
  message: "Contact.",
  errors: ["NOT_FOUND"],
  input: z.object({}),
  output: z.string(),
  produces: "application/x-ndjson",
});

/** `DELETE …/contacts/{contact}`: the log of changes keeps who did it and when. */
export const eraseContact = endpoint({
  method: "DELETE",
  path: PATH,
  access: { by: "operator" },
  summary: "Erase everything that is stored of one contact of a number",
  message: "Contact erased.",
  errors: ["NOT_FOUND"],
  input: z.object({}),
  output: record(
    z
      .strictObject({
        erased: z.record(z.string(), z.int().min(0)).meta({ description: "Rows by table" }),
        waiting: z
          .int()
          .min(0)
          .meta({ description: "Rows that stay until a message is answered, sent or delivered" }),
      })
      .meta({ id: "ContactErased" }),
  ),
});
