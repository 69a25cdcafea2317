import { defineApi } from "../src/api/define-api.ts";
import { checkNumbers } from "../src/api/endpoints/contacts.ts";
import { checkNumbersOf } from "../src/api/work/number-checks.ts";

/** `POST /check-numbers`. */
export default defineApi(checkNumbers, checkNumbersOf);
