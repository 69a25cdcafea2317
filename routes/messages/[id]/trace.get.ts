import { defineApi } from "../../../src/api/define-api.ts";
import { traceMessage } from "../../../src/api/endpoints/conversations.ts";
import { explainMessage } from "../../../src/api/work/conversations.ts";

/** `GET /messages/{id}/trace`: why a message was answered as it was. */
export default defineApi(traceMessage, explainMessage);
