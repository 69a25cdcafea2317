import { defineApi } from "../src/api/define-api.ts";
import { docs } from "../src/api/endpoints/documentation.ts";
import { docsPage } from "../src/api/documentation.ts";

/** `HEAD /docs`: the same without the body. */
export default defineApi(docs, docsPage);
