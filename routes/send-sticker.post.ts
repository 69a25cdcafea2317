import { defineApi } from "../src/api/define-api.ts";
import { sendSticker } from "../src/api/endpoints/send-media.ts";
import { sendStickerOf } from "../src/api/work/files/send-media.ts";

/** `POST /send-sticker`: a picture as a sticker to 1 to 10 destinations. */
export default defineApi(sendSticker, sendStickerOf);
