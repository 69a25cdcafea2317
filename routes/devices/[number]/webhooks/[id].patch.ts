import { defineApi } from "../../../../src/api/define-api.ts";
import { changeListener } from "../../../../src/api/endpoints/listeners.ts";
import { change } from "../../../../src/api/work/webhooks/listeners.ts";

/** `PATCH /devices/{number}/webhooks/{id}`: what is left out stays. */
export default defineApi(changeListener, change);
