import { defineApi } from "../../../../src/api/define-api.ts";
import { createAccountKey } from "../../../../src/api/endpoints/operator/accounts.ts";
import { requestedKey } from "../../../../src/api/access/keys.ts";
import { requireAccount } from "../../../../src/api/access/operator.ts";
import { keyView } from "../../../../src/api/views/views.ts";

/** `POST /admin/accounts/{id}/api-keys`: the operator may grant anything. */
export default defineApi(createAccountKey, async ({ app, input, params }) => {
  const { id } = await requireAccount(app, params["id"]);
  const { key, apiKey } = await app.keys.issue(id, requestedKey(input), null);
  return { data: keyView(key), api_key: apiKey };
});
