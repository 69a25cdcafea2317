import { defineApi } from "../../../src/api/define-api.ts";
import { createListener } from "../../../src/api/endpoints/listeners.ts";
import { create } from "../../../src/api/work/webhooks/listeners.ts";

/** `POST /devices/{number}/webhooks`: the secret is shown this once. */
export default defineApi(createListener, create);
