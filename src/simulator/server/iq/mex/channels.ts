import { channelMetadata } from "../../channels/channel.ts";
import type { Channel } from "../../channels/channel.ts";
import type { ChannelNews } from "../../channels/channel-news.ts";
import type { Channels } from "../../channels/channels.ts";
import { MexError } from "./query.ts";
import type { MexQuery } from "./query.ts";
import type { Account } from "../../../world/accounts.ts";

type Needs = Pick<Channels, "all" | "tell">;

/** Channels, as clients ask for them. */
export const createChannelQueries = (channels: Needs): Record<string, MexQuery> => ({
  "6563316087068696": {
    field: "xwa2_newsletter",
    answer({ device, variables }) {
      const { key, type } = (variables.input ?? {}) as { key?: string; type?: string };
      const all = [...channels.all.values()];
      const channel = all.find(({ id, invite }) => (type === "INVITE" ? invite === key : id === key));
      if (!channel || channel.state === "DELETED") throw new MexError(404, "Not Found");
      return channelMetadata(channel, device.account);
    },
  },
  "24404358912487870": change(channels, "xwa2_newsletter_join_v2", "joined", (channel, { number }) =>
    channel.followers.add(number),
  ),
  "9767147403369991": change(channels, "xwa2_newsletter_leave_v2", "left", (channel, { number }) =>
    channel.followers.delete(number),
  ),
  "29766401636284406": change(channels, "xwa2_newsletter_mute_v2", "muted", (channel, { number }) =>
    channel.muted.add(number),
  ),
  "9864994326891137": change(channels, "xwa2_newsletter_unmute_v2", "unmuted", (channel, { number }) =>
    channel.muted.delete(number),
  ),
  "7130823597031706": {
    field: "xwa2_newsletter_admin",
    answer: ({ variables }) => ({ admin_count: channelOf(channels, variables).admins.size }),
  },
});

function change(
  channels: Needs,
  field: string,
  kind: Exclude<ChannelNews["kind"], "promoted" | "demoted">,
  act: (channel: Channel, account: Account) => unknown,
): MexQuery {
  return {
    field,
    answer({ device, variables }) {
      const channel = channelOf(channels, variables);
      act(channel, device.account);
      channels.tell(channel, device.account, { kind }, device);
      return { id: channel.id, state: { type: channel.state } };
    },
  };
}

function channelOf(channels: Needs, variables: Record<string, unknown>): Channel {
  const channel = channels.all.get(String(variables.newsletter_id));
  if (!channel) throw new MexError(404, "Not Found");
  return channel;
}
