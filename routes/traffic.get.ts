import { defineApi } from "../src/api/define-api.ts";
import { getTraffic } from "../src/api/endpoints/traffic.ts";
import { listedDevices } from "../src/api/senders.ts";
import { trafficView } from "../src/api/traffic-view.ts";

/** `GET /traffic`: of the numbers that the key may use. */
export default defineApi(getTraffic, async ({ app, caller, input: { hours, sender } }) => {
  const ids = listedDevices(app, caller, sender).map(({ id }) => id);
  return { data: trafficView(await app.traffic.report(ids, hours)) };
});
