import { element } from "../../wire/nodes.ts";
import { listPosts } from "../channels.ts";
import type { Channel } from "../channels.ts";
import { IqError } from "../iq-error.ts";
import type { IqHandler, IqRequest } from "./handler.ts";

/** How long a client is told of changes in a channel that it looks at (seconds). */
const LIVE_S = "300";

/** Posts of channels, asked for one by one. */
export const newsletterHandlers: IqHandler[] = [
  {
    xmlns: "newsletter",
    type: "get",
    child: "messages",
    answer(request) {
      const { server, body } = request;
      const { type, key, jid } = body.attrs;
      const all = [...server.channels.values()];
      const channel = all.find(({ id, invite }) =>
        type === "invite" ? invite === key : id === (jid ?? key),
      );
      if (!channel) throw new IqError(404, "item-not-found");
      return [element("messages", { jid: channel.id, t: server.now() }, posts(channel, request))];
    },
  },
  {
    xmlns: "newsletter",
    type: "get",
    child: "message_updates",
    answer(request) {
      const channel = channelOf(request);
      const list = element("messages", { jid: channel.id, t: request.server.now() }, posts(channel, request));
      return [element("message_updates", {}, [list])];
    },
  },
  {
    xmlns: "newsletter",
    type: "set",
    child: "live_updates",
    answer(request) {
      channelOf(request);
      return [element("live_updates", { duration: LIVE_S })];
    },
  },
];

function channelOf({ server, iq }: IqRequest): Channel {
  const channel = server.channels.get(iq.attrs.to ?? "");
  if (!channel) throw new IqError(404, "item-not-found");
  return channel;
}

const number = (value: string | undefined): number | undefined => (value ? Number(value) : undefined);

function posts(channel: Channel, { body }: IqRequest) {
  const { count, before, after } = body.attrs;
  return listPosts(channel, { count: number(count), before: number(before), after: number(after) });
}
