import { defineApi } from "../../src/api/define-api.ts";
import { listAccounts } from "../../src/api/endpoints/operator/accounts.ts";
import { pageView } from "../../src/api/answers/envelope.ts";
import { accountView } from "../../src/api/views/views.ts";

/** `GET /admin/accounts` */
export default defineApi(listAccounts, async ({ app, input }) =>
  pageView(await app.accounts.list(input), accountView),
);
