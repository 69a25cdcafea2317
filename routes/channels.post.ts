import { defineApi } from "../src/api/define-api.ts";
import { addChannel } from "../src/api/endpoints/channels.ts";
import { findSender, requireLinked } from "../src/api/access/senders.ts";
import { channelView } from "../src/api/views/views.ts";

/** `POST /channels`: registers a channel. */
export default defineApi(addChannel, async ({ app, caller, input }) => {
  const device = findSender(app, caller, input.sender);
  requireLinked(app, device);
  return { data: channelView(await app.channels.add(device.id, input.channel)) };
});
