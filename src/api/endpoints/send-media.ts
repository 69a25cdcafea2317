import { z } from "zod";
import type { ErrorCode } from "../../model/errors/errors.ts";
import { MEDIA_TYPES } from "../../model/media/media.ts";
import { endpoint } from "../endpoint.ts";
import { base64, text } from "../../model/fields.ts";
import { MAX_BODY_BYTES } from "../reading/body.ts";
import { FilePart } from "../reading/file-part.ts";
import { FETCH_ERRORS, link } from "../schemas/links.ts";
import { sendAnswer } from "../schemas/messages.ts";
import { sendFields } from "../schemas/send-fields.ts";

const MISSING = "Is required, unless data or a part called file holds the file itself.";

const send = {
  access: { by: "key", permission: "media" } as const,
  sends: true as const,
  summary: "Send a file to 1 to 10 destinations",
  message: "Message sent successfully!",
  errors: [...FETCH_ERRORS, "TIME_NOT_USABLE"] satisfies ErrorCode[],
  output: sendAnswer,
};

const fields = {
  ...sendFields,
  media_type: z
    .preprocess(
      (value) => (typeof value === "string" ? value.trim().toLowerCase() : value),
      z.enum(MEDIA_TYPES),
    )
    .meta({ description: "`document` is any file, as what it is" }),
  caption: text(0, 65_536).optional().meta({
    description:
      "Text under an image or video; of a document its file name, or the text under it when `filename` names it",
  }),
  filename: text(0, 255).optional().meta({ description: "File name of a document" }),
  ptt: text(0, 65_536).optional().meta({ description: "vn sends audio or mp3 as a voice note" }),
};

/** `POST /send-media`: the file is fetched once, before anything is queued, for all destinations. */
export const sendMedia = endpoint({
  ...send,
  method: "POST",
  path: "/send-media",
  fileIn: "data",
  input: z
    .object({
      ...fields,
      url: link.optional(),
      file: z
        .unknown()
        .refine((value) => value instanceof FilePart, "Must be a part of multipart/form-data.")
        .optional()
        .meta({
          description:
            "The file itself, as the last part of a request of multipart/form-data; up to MAX_MEDIA_BYTES",
        }),
      data: base64(MAX_BODY_BYTES).optional().meta({
        description: "The file itself in base64, instead of its `url`; the body holds about 780 KB of a file",
      }),
    })
    .superRefine(({ url, data, file }, context) => {
      const given = Object.entries({ url, data, file }).filter(([, value]) => value !== undefined);
      const [first, second] = given.map(([name]) => name);
      if (first === undefined) context.addIssue({ code: "custom", path: ["url"], message: MISSING });
      if (second !== undefined)
        context.addIssue({
          code: "custom",
          path: [second],
          message: `Cannot be given together with ${first}.`,
        });
    }),
});
/** `GET /send-media`: the key stands in the query. */
export const sendMediaByGet = endpoint({
  ...send,
  method: "GET",
  path: "/send-media",
  keyIn: "query",
  input: z.object({ ...fields, url: link }),
});

/** `POST /send-sticker`: any picture becomes one. */
export const sendSticker = endpoint({
  ...send,
  method: "POST",
  path: "/send-sticker",
  summary: "Send a picture or a short GIF as a sticker to 1 to 10 destinations",
  input: z.object({
    ...sendFields,
    url: link.meta({
      description:
        "http or https. WebP of 512 × 512 is sent as it is; other pictures, and GIFs of up to 10 seconds, are made into it",
    }),
  }),
});
