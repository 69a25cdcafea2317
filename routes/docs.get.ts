import { defineApi } from "../src/api/define-api.ts";
import { docs } from "../src/api/endpoints/documentation.ts";
import { docsPage } from "../src/api/documentation.ts";

/** `GET /docs`: every endpoint, as a page that loads nothing. */
export default defineApi(docs, docsPage);
