import { defineApi } from "../src/api/define-api.ts";
import { sendLocation } from "../src/api/endpoints/shared-content.ts";
import { sendPlace } from "../src/api/work/shared-content.ts";

/** `POST /send-location`: a place on the map to 1 to 10 destinations. */
export default defineApi(sendLocation, sendPlace);
