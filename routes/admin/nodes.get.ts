import { defineApi } from "../../src/api/define-api.ts";
import { listNodes } from "../../src/api/endpoints/operator/nodes.ts";
import { list } from "../../src/api/answers/envelope.ts";
import { nodeView } from "../../src/api/views/views.ts";

/** `GET /admin/nodes` */
export default defineApi(listNodes, async ({ app }) => list((await app.nodes.list()).map(nodeView)));
