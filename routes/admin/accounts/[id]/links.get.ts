import { defineApi } from "../../../../src/api/define-api.ts";
import { listAccountLinks } from "../../../../src/api/endpoints/links.ts";
import { pageView } from "../../../../src/api/answers/envelope.ts";
import { linkView } from "../../../../src/api/access/links.ts";
import { requireAccount } from "../../../../src/api/access/operator.ts";

/** `GET /admin/accounts/{id}/links` */
export default defineApi(listAccountLinks, async ({ app, input, params }) => {
  const { id } = await requireAccount(app, params["id"]);
  return pageView(await app.links.list(id, null, input), linkView);
});
