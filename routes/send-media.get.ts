import { defineApi } from "../src/api/define-api.ts";
import { sendMediaByGet } from "../src/api/endpoints/send-media.ts";
import { sendMediaOf } from "../src/api/work/files/send-media.ts";

/** `GET /send-media`: the same from a query string. */
export default defineApi(sendMediaByGet, sendMediaOf);
