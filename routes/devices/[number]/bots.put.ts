import { requireKnownBindings } from "../../../src/api/work/bots.ts";
import { defineApi } from "../../../src/api/define-api.ts";
import { putDeviceBots } from "../../../src/api/endpoints/bots.ts";
import { list } from "../../../src/api/answers/envelope.ts";
import { findDevice } from "../../../src/api/access/senders.ts";

/** `PUT /devices/{number}/bots`: replaces what is bound. */
export default defineApi(putDeviceBots, async ({ app, caller, input, params }) => {
  const bindings = input.bots.map((bot) => ({
    id: bot.id,
    enabled: bot.enabled,
    priority: bot.priority ?? null,
    config: bot.config ?? null,
  }));
  requireKnownBindings(app, bindings);
  const device = findDevice(app, caller, params["number"]);
  return list(await app.bindings.put(device.id, bindings));
});
