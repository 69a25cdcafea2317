import { defineApi } from "../../../src/api/define-api.ts";
import { rotateKey } from "../../../src/api/endpoints/operator/accounts.ts";
import { notFound } from "../../../src/api/answers/unmatched.ts";
import { keyView } from "../../../src/api/views/views.ts";

/** `POST /api-keys/{id}/rotate`: a new secret, which only who could have made the key may see. */
export default defineApi(rotateKey, async ({ app, caller, params }) => {
  const rotated = await app.keys.rotate(caller.accountId, params["id"]!, caller);
  if (rotated === null) throw notFound();
  return { data: keyView(rotated.key), api_key: rotated.apiKey };
});
