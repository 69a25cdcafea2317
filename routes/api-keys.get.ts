import { defineApi } from "../src/api/define-api.ts";
import { listKeys } from "../src/api/endpoints/operator/accounts.ts";
import { pageView } from "../src/api/answers/envelope.ts";
import { keyViewFor } from "../src/api/views/views.ts";

/** `GET /api-keys` */
export default defineApi(listKeys, async ({ app, caller, input }) =>
  pageView(await app.keys.list(caller.accountId, input), (key) => keyViewFor(caller, key)),
);
