import { defineApi } from "../../../../src/api/define-api.ts";
import { createAccountLink } from "../../../../src/api/endpoints/links.ts";
import { makeLink, makerOf } from "../../../../src/api/access/links.ts";
import { requireAccount } from "../../../../src/api/access/operator.ts";

/** `POST /admin/accounts/{id}/links`: for one number of an account, registered when it is new. */
export default defineApi(createAccountLink, async (call) => {
  const { app, input, params } = call;
  const { id } = await requireAccount(app, params["id"]);
  const device = app.numbers.find(id, input.device) ?? (await app.numbers.register(id, input.device));
  return makeLink(app, device, input.minutes, makerOf(call));
});
