import { defineApi } from "../src/api/define-api.ts";
import { getOwnAccount } from "../src/api/endpoints/operator/accounts.ts";

/** `GET /account`: the caller's own account. */
export default defineApi(getOwnAccount, async ({ app, caller }) => {
  const { id, name, plan } = caller.account;
  const { limits, used } = await app.accounts.usage(id);
  return { data: { id, name, plan, limits, used } };
});
