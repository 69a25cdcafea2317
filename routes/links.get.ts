import { defineApi } from "../src/api/define-api.ts";
import { listLinks } from "../src/api/endpoints/links.ts";
import { pageView } from "../src/api/answers/envelope.ts";
import { linkView } from "../src/api/access/links.ts";

/** `GET /links`: of the numbers that the key may use. */
export default defineApi(listLinks, async ({ app, caller, input }) =>
  pageView(await app.links.list(caller.accountId, caller.devices, input), linkView),
);
