import { defineApi } from "../../../src/api/define-api.ts";
import { changeAccount } from "../../../src/api/endpoints/operator/accounts.ts";
import { notFound } from "../../../src/api/answers/unmatched.ts";
import { accountView } from "../../../src/api/views/views.ts";

/** `PATCH /admin/accounts/{id}`: what is left out stays as it is. */
export default defineApi(changeAccount, async ({ app, input, params }) => {
  const account = await app.accounts.update(params["id"]!, input);
  if (account === null) throw notFound();
  return { data: accountView(account) };
});
