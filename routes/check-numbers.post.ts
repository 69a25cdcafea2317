import { findSender, requireLinked } from "../src/api/access/senders.ts";
import { defineApi } from "../src/api/define-api.ts";
import { checkNumbers } from "../src/api/endpoints/contacts.ts";
import { iso } from "../src/api/views/views.ts";

/** `POST /check-numbers`. */
export default defineApi(checkNumbers, async ({ app, caller, input }) => {
  const device = findSender(app, caller, input.sender);
  requireLinked(app, device);
  const checks = await app.numberChecks.check(device.id, [...new Set(input.numbers)]);
  const data = checks.map(({ number, exists, lid, checkedAt }) => ({
    number,
    exists,
    lid,
    checked_at: iso(checkedAt),
  }));
  return { total: data.length, data };
});
