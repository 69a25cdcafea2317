import { z } from "zod";
import { integer, isoTime, ownNumber, text } from "../../model/fields.ts";
import { endpoint } from "../endpoint.ts";
import { record } from "../schemas/answer.ts";
import { MAX_BODY_BYTES } from "../body.ts";

const upload = z
  .strictObject({
    id: z.string().meta({ description: "`after` of the part that follows" }),
    received: z.int().meta({ description: "Bytes of the file until now" }),
    url: z.string().meta({ description: "The file until now: `url` of `/send-media`" }),
    expires_at: isoTime(),
  })
  .meta({ id: "Upload" });

/** `POST /uploads`: a file in parts of less than 1 MiB, each naming the one before it. */
export const createUpload = endpoint({
  method: "POST",
  path: "/uploads",
  access: { by: "key", permission: "media" },
  changesNothing: "Keeps a file for a day; sending it is what counts.",
  summary:
    "Give the gateway a file that has no address, in parts: the last answer's `url` is for `/send-media`",
  message: "Part kept.",
  errors: ["FILE_TOO_LARGE", "UNAVAILABLE"],
  input: z.object({
    sender: ownNumber(),
    data: text(1, MAX_BODY_BYTES)
      .refine((value) => isBase64(value), "Must be base64.")
      .meta({ description: "The part in base64, about 700 KB of the file at most" }),
    after: text(1, 100).optional().meta({ description: "`id` of the part before it; none: it is the first" }),
    size: integer(1, Number.MAX_SAFE_INTEGER)
      .optional()
      .meta({ description: "Bytes of the whole file: too many are refused with the first part" }),
    name: text(0, 255)
      .optional()
      .meta({ description: "What the file is called, when no `caption` names it" }),
  }),
  output: record(upload),
});

const isBase64 = (value: string): boolean => value.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(value);
