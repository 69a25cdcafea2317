import { defineApi } from "../src/api/define-api.ts";
import { sendPoll } from "../src/api/endpoints/polls.ts";
import { pollDraft } from "../src/api/work/polls.ts";
import { send } from "../src/api/work/send.ts";

/** `POST /send-poll`: a poll to 1 to 10 destinations. */
export default defineApi(sendPoll, (call) => send(call, pollDraft(call.input)));
