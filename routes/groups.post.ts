import { defineApi } from "../src/api/define-api.ts";
import { groups } from "../src/api/endpoints/contacts.ts";
import { findSender, requireLinked } from "../src/api/access/senders.ts";
import { groupView, iso } from "../src/api/views/views.ts";

/** `POST /groups`: the groups of a number. */
export default defineApi(groups, async ({ app, caller, input }) => {
  const device = findSender(app, caller, input.sender);
  requireLinked(app, device);
  const { refresh } = input;
  const { groups: found, cachedAt, stale, refreshed } = await app.groups.list(device.id, { refresh });
  return {
    total: found.length,
    data: found.map(groupView),
    cached_at: iso(cachedAt),
    stale,
    ...(refresh && { refreshed }),
  };
});
