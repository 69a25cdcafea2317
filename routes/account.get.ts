import { defineApi } from "../src/api/define-api.ts";
import { getOwnAccount } from "../src/api/endpoints/accounts.ts";
import { notFound } from "../src/api/unmatched.ts";

/** `GET /account`: the caller's own account. */
export default defineApi(getOwnAccount, async ({ app, caller }) => {
  const { id, name, plan } = caller.account;
  const usage = await app.accounts.usage(id);
  if (usage === null) throw notFound();
  const { limits, used } = usage;
  return { data: { id, name, plan, limits, used } };
});
