import { defineApi } from "../../src/api/define-api.ts";
import { forkConversation } from "../../src/api/endpoints/bots.ts";
import { forkStored } from "../../src/api/work/forks.ts";

/** `POST /bots/fork`: a stored conversation, told again to the bots as their files are now. */
export default defineApi(forkConversation, async ({ app, caller, input }) => ({
  data: await forkStored(app, caller, input),
}));
