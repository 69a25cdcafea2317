import { defineApi } from "../src/api/define-api.ts";
import { openApi } from "../src/api/endpoints/documentation.ts";
import { openApiAnswer } from "../src/api/documentation.ts";

/** `GET /openapi.json`: every endpoint, as OpenAPI 3.1. */
export default defineApi(openApi, openApiAnswer);
