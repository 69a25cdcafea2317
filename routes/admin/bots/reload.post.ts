import { defineApi } from "../../../src/api/define-api.ts";
import { reloadBots } from "../../../src/api/endpoints/bots.ts";
import { list } from "../../../src/api/answers/envelope.ts";

/** `POST /admin/bots/reload`: the same as `kill -HUP`. */
export default defineApi(reloadBots, async ({ app }) => list(await app.bots.reload()));
