import { defineApi } from "../src/api/define-api.ts";
import { getStats } from "../src/api/endpoints/stats.ts";
import { listedDevices } from "../src/api/access/senders.ts";
import { statsView } from "../src/api/views/stats.ts";

/** `GET /stats`: of the numbers that the key may use. */
export default defineApi(getStats, async ({ app, caller, input: { hours, sender } }) => {
  const ids = listedDevices(app, caller, sender).map(({ id }) => id);
  return statsView(await app.traffic.report(ids, hours));
});
