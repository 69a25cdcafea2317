import { defineApi } from "../src/api/define-api.ts";
import { openApi } from "../src/api/endpoints/documentation.ts";
import { openApiAnswer } from "../src/api/documentation.ts";

/** `HEAD /openapi.json`: the same without the body. */
export default defineApi(openApi, openApiAnswer);
