import { defineApi } from "../../../src/api/define-api.ts";
import { forwardMessage } from "../../../src/api/endpoints/messages.ts";
import { forward } from "../../../src/api/work/forward.ts";

/** `POST /messages/{id}/forward`. */
export default defineApi(forwardMessage, forward);
