import { defineApi } from "../../../src/api/define-api.ts";
import { listListeners } from "../../../src/api/endpoints/listeners.ts";
import { list } from "../../../src/api/work/webhooks/listeners.ts";

/** `GET /devices/{number}/webhooks`: those beside the webhook. */
export default defineApi(listListeners, list);
