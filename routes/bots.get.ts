import { defineApi } from "../src/api/define-api.ts";
import { listBots } from "../src/api/endpoints/bots.ts";
import { list } from "../src/api/answers/envelope.ts";

/** `GET /bots`: every bot, the broken ones with their reason. */
export default defineApi(listBots, async ({ app }) => list(app.bots.list()));
