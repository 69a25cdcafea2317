import { defineApi } from "../../../src/api/define-api.ts";
import { whyDevice } from "../../../src/api/endpoints/numbers.ts";
import { explainNumber } from "../../../src/api/work/numbers.ts";

/** `GET /devices/{number}/why`: why it is in its state, and what to do. */
export default defineApi(whyDevice, explainNumber);
