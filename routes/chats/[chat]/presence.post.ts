import { defineApi } from "../../../src/api/define-api.ts";
import { watchPresence } from "../../../src/api/endpoints/conversations.ts";
import { watchPresenceOf } from "../../../src/api/work/chats/presence-watch.ts";

/** `POST /chats/{chat}/presence`. */
export default defineApi(watchPresence, watchPresenceOf);
