import { z } from "zod";
import { base64, integer, isoTime, ownNumber, text } from "../../model/fields.ts";
import { endpoint } from "../endpoint.ts";
import { record } from "../schemas/answer.ts";
import { MAX_BODY_BYTES } from "../reading/body.ts";

const upload = z
  .strictObject({
    id: z.string().meta({ description: "`after` of the next part" }),
    received: z.int().meta({ description: "Bytes of the file so far" }),
    url: z.string().meta({ description: "The file so far, as `url` for `/send-media`" }),
    expires_at: isoTime(),
  })
  .meta({ id: "Upload" });

/** `POST /uploads`: a file in parts of less than 1 MiB, each naming the one before it. */
export const createUpload = endpoint({
  method: "POST",
  path: "/uploads",
  access: { by: "key", permission: "media" },
  changesNothing: "Only keeps a file for a day; the log records its sending.",
  summary: "Upload a file in parts; the last answer's `url` is for `/send-media`",
  message: "Part kept.",
  errors: ["FILE_TOO_LARGE", "UNAVAILABLE"],
  input: z.object({
    sender: ownNumber(),
    data: base64(MAX_BODY_BYTES).meta({
      description: "The part in base64, at most about 700 KB of the file",
    }),
    after: text(1, 100)
      .optional()
      .meta({ description: "`id` of the previous part; absent for the first part" }),
    size: integer(1, Number.MAX_SAFE_INTEGER).optional().meta({
      description: "Bytes of the whole file; a file that is too large is refused with its first part",
    }),
    name: text(0, 255).optional().meta({ description: "File name, when no `caption` names the file" }),
  }),
  output: record(upload),
});
