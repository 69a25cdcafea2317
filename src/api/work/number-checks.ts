import { findSender, requireLinked } from "../access/senders.ts";
import type { CallOf } from "../call.ts";
import type { checkNumbers } from "../endpoints/contacts.ts";
import { iso } from "../views/views.ts";

/**
 * Which numbers are on WhatsApp.
 *
 * @throws SENDER_NOT_FOUND, SENDER_NOT_CONNECTED; RATE_LIMITED when WhatsApp would be asked too often
 */
export async function checkNumbersOf({ app, caller, input }: CallOf<typeof checkNumbers>) {
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
}
