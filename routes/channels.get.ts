import { defineApi } from "../src/api/define-api.ts";
import { listChannels } from "../src/api/endpoints/channels.ts";
import { pageView } from "../src/api/answers/envelope.ts";
import { findSender } from "../src/api/access/senders.ts";
import { channelView } from "../src/api/views/views.ts";

/** `GET /channels`: the registered channels of a number. */
export default defineApi(listChannels, async ({ app, caller, input }) => {
  const device = findSender(app, caller, input.sender);
  return pageView(await app.channels.list(device.id, input), channelView);
});
