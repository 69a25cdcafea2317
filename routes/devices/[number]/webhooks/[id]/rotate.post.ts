import { defineApi } from "../../../../../src/api/define-api.ts";
import { rotateListener } from "../../../../../src/api/endpoints/listeners.ts";
import { rotate } from "../../../../../src/api/work/webhooks/listeners.ts";

/** `POST /devices/{number}/webhooks/{id}/rotate`: old and new secret both sign for 24 hours. */
export default defineApi(rotateListener, rotate);
