import { defineApi } from "../src/api/define-api.ts";
import { sendPollByGet } from "../src/api/endpoints/polls.ts";
import { pollDraft } from "../src/api/work/polls.ts";
import { send } from "../src/api/work/send.ts";

/** `GET /send-poll`: the same from a query string. */
export default defineApi(sendPollByGet, (call) => send(call, pollDraft(call.input)));
