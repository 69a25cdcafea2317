import { defineApi } from "../../src/api/define-api.ts";
import { listSessions } from "../../src/api/endpoints/sessions.ts";
import { list } from "../../src/api/answers/envelope.ts";
import { listedSessionView } from "../../src/api/access/sessions.ts";

/** `GET /sessions`: who is signed in with the same key, or as operator. */
export default defineApi(listSessions, async ({ app, session, credential }) => {
  const found = await app.sessions.list(credential());
  const views = found.map(async (one) => {
    const account = one.accountId === null ? null : await app.accounts.get(one.accountId);
    return listedSessionView(one, account, session?.id ?? null);
  });
  return list(await Promise.all(views));
});
