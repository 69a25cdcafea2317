import { defineApi } from "../../../../src/api/define-api.ts";
import { deleteListener } from "../../../../src/api/endpoints/listeners.ts";
import { remove } from "../../../../src/api/work/webhooks/listeners.ts";

/** `DELETE /devices/{number}/webhooks/{id}`: what is pending ends. */
export default defineApi(deleteListener, remove);
