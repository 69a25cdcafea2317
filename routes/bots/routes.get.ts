import { defineApi } from "../../src/api/define-api.ts";
import { listBotRoutes } from "../../src/api/endpoints/bots.ts";

/** `GET /bots/routes`: who is asked in which order at a number to which nothing is bound. */
export default defineApi(listBotRoutes, ({ app }) => ({ data: app.bindings.routes(null) }));
