import { defineApi } from "../src/api/define-api.ts";
import { sendMedia } from "../src/api/endpoints/send-media.ts";
import { sendMediaOf } from "../src/api/work/files/send-media.ts";

/** `POST /send-media`: a file to 1 to 10 destinations. */
export default defineApi(sendMedia, sendMediaOf);
