import { defineApi } from "../../src/api/define-api.ts";
import { createAccount } from "../../src/api/endpoints/operator/accounts.ts";
import { accountView } from "../../src/api/views/views.ts";

/** `POST /admin/accounts`: an account and its first key. */
export default defineApi(createAccount, async ({ app, input }) => {
  const { account, apiKey } = await app.accounts.create(input);
  return { account: accountView(account), api_key: apiKey };
});
