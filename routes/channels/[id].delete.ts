import { defineApi } from "../../src/api/define-api.ts";
import { removeChannel } from "../../src/api/endpoints/channels.ts";
import { channelId, findSender, requireLinked } from "../../src/api/access/senders.ts";
import { notFound } from "../../src/api/answers/unmatched.ts";

/** `DELETE /channels/{id}`: forgets a channel. */
export default defineApi(removeChannel, async ({ app, caller, input, params }) => {
  const device = findSender(app, caller, input.sender);
  requireLinked(app, device);
  if (!(await app.channels.remove(device.id, channelId(params["id"])))) throw notFound();
});
