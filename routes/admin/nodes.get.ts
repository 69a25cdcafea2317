import { defineApi } from "../../src/api/define-api.ts";
import { listNodes } from "../../src/api/endpoints/nodes.ts";
import { list } from "../../src/api/envelope.ts";
import { nodeView } from "../../src/api/views.ts";

/** `GET /admin/nodes` */
export default defineApi(listNodes, async ({ app }) => list((await app.nodes.list()).map(nodeView)));
