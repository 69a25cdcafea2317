import { defineApi } from "../../../src/api/define-api.ts";
import { handChatBack } from "../../../src/api/endpoints/conversations.ts";
import { handBack } from "../../../src/api/work/chats/takeover.ts";

/** `DELETE /chats/{chat}/takeover`: bots go on there. */
export default defineApi(handChatBack, handBack);
