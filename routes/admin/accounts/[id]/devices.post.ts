import { defineApi } from "../../../../src/api/define-api.ts";
import { createAccountDevice } from "../../../../src/api/endpoints/operator/accounts.ts";
import { requireAccount } from "../../../../src/api/access/operator.ts";
import { deviceView } from "../../../../src/api/views/views.ts";

/** `POST /admin/accounts/{id}/devices`: registers without linking. */
export default defineApi(createAccountDevice, async ({ app, input, params }) => {
  const { id } = await requireAccount(app, params["id"]);
  return { data: deviceView(await app.numbers.register(id, input.device)) };
});
