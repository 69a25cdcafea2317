import { defineApi } from "../../../../src/api/define-api.ts";
import { listAccountLinks } from "../../../../src/api/endpoints/links.ts";
import { pageView } from "../../../../src/api/envelope.ts";
import { linkView } from "../../../../src/api/links.ts";
import { requireAccount } from "../../../../src/api/operator.ts";

/** `GET /admin/accounts/{id}/links` */
export default defineApi(listAccountLinks, async ({ app, input, params }) => {
  const { id } = await requireAccount(app, params["id"]);
  return pageView(await app.links.list(id, null, input), linkView);
});
