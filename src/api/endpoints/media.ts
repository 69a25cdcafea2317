import { z } from "zod";
import { endpoint } from "../endpoint.ts";

/** `GET /media/{token}`: the signature in the address is the permission; it expires. */
export const getMedia = endpoint({
  method: "GET",
  path: "/media/{token}",
  access: { by: "everybody" },
  summary:
    "Download a message's file by the signed address in `media.url` of a webhook event or of `GET /messages`",
  message: "File.",
  errors: ["FILE_TOO_LARGE", "FILE_UNREACHABLE", "FILE_NOT_USABLE", "UNAVAILABLE"],
  input: z.object({}),
  output: z.string(),
  produces: "application/octet-stream",
});
