import { defineApi } from "../../src/api/define-api.ts";
import { getOverview } from "../../src/api/endpoints/overview.ts";
import { overviewView } from "../../src/api/overview-view.ts";

/** `GET /admin/overview`: how the gateway is. */
export default defineApi(getOverview, async ({ app }) => ({ data: overviewView(await app.overview.look()) }));
