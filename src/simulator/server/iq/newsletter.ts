import { element } from "../../wire/nodes.ts";
import { listPosts } from "../channels/channel.ts";
import type { Channel } from "../channels/channel.ts";
import type { Channels } from "../channels/channels.ts";
import type { Stamps } from "../ports.ts";
import type { Time } from "../../time.ts";
import { IqError } from "../iq-error.ts";
import type { IqHandler, IqRequest } from "./handler.ts";

/** How long a client that is viewing a channel is kept up to date, in seconds. */
const LIVE_S = 300;

interface Needs extends Pick<Stamps, "now"> {
  time: Time;
  channels: Pick<Channels, "all">;
}

/** Posts of channels (`newsletter`), asked for one by one. */
export const createNewsletterHandlers = (needs: Needs): IqHandler[] => [
  {
    xmlns: "newsletter",
    type: "get",
    child: "messages",
    answer(request) {
      const { body } = request;
      const { type, key, jid } = body.attrs;
      const all = [...needs.channels.all.values()];
      const channel = all.find(({ id, invite }) =>
        type === "invite" ? invite === key : id === (jid ?? key),
      );
      if (!channel) throw new IqError(404, "item-not-found");
      return [element("messages", { jid: channel.id, t: needs.now() }, posts(channel, request))];
    },
  },
  {
    xmlns: "newsletter",
    type: "get",
    child: "message_updates",
    answer(request) {
      const channel = channelOf(needs, request);
      const list = element("messages", { jid: channel.id, t: needs.now() }, posts(channel, request));
      return [element("message_updates", {}, [list])];
    },
  },
  {
    xmlns: "newsletter",
    type: "set",
    child: "live_updates",
    answer(request) {
      channelOf(needs, request).viewers.set(request.device, needs.time.now() + LIVE_S * 1000);
      return [element("live_updates", { duration: String(LIVE_S) })];
    },
  },
];

function channelOf({ channels }: Needs, { iq }: IqRequest): Channel {
  const channel = channels.all.get(iq.attrs.to ?? "");
  if (!channel) throw new IqError(404, "item-not-found");
  return channel;
}

const number = (value: string | undefined): number | undefined => (value ? Number(value) : undefined);

function posts(channel: Channel, { body }: IqRequest) {
  const { count, before, after } = body.attrs;
  return listPosts(channel, { count: number(count), before: number(before), after: number(after) });
}
