import { defineApi } from "../src/api/define-api.ts";
import { listKeys } from "../src/api/endpoints/accounts.ts";
import { pageView } from "../src/api/envelope.ts";
import { keyViewFor } from "../src/api/views.ts";

/** `GET /api-keys` */
export default defineApi(listKeys, async ({ app, caller, input }) =>
  pageView(await app.keys.list(caller.accountId, input), (key) => keyViewFor(caller, key)),
);
