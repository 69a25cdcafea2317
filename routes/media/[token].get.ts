import { defineApi } from "../../src/api/define-api.ts";
import { getMedia } from "../../src/api/endpoints/media.ts";
import { giveMedia } from "../../src/api/work/files/media.ts";

/** `GET /media/{token}`: the file of a message. */
export default defineApi(getMedia, ({ app, params }) => giveMedia(app, params["token"] ?? ""));
