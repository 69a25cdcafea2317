import { defineApi } from "../src/api/define-api.ts";
import { listDevices } from "../src/api/endpoints/numbers.ts";
import { listNumbers } from "../src/api/work/numbers.ts";

/** `GET /devices`: the numbers that the key may use. */
export default defineApi(listDevices, listNumbers);
