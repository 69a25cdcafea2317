import { defineApi } from "../src/api/define-api.ts";
import { sendPoll } from "../src/api/endpoints/polls.ts";
import { sendPollOf } from "../src/api/work/polls.ts";

/** `POST /send-poll`: a poll to 1 to 10 destinations. */
export default defineApi(sendPoll, sendPollOf);
