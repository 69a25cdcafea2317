import { defineApi } from "../src/api/define-api.ts";
import { sendPollByGet } from "../src/api/endpoints/polls.ts";
import { sendPollOf } from "../src/api/work/polls.ts";

/** `GET /send-poll`: the same from a query string. */
export default defineApi(sendPollByGet, sendPollOf);
