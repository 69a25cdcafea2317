import { defineApi } from "../src/api/define-api.ts";
import { createKey } from "../src/api/endpoints/operator/accounts.ts";
import { requestedKey } from "../src/api/access/keys.ts";
import { keyView } from "../src/api/views/views.ts";

/** `POST /api-keys`: a key that may do no more than the caller's. */
export default defineApi(createKey, async ({ app, caller, input }) => {
  const { key, apiKey } = await app.keys.issue(caller.accountId, requestedKey(input), caller);
  return { data: keyView(key), api_key: apiKey };
});
