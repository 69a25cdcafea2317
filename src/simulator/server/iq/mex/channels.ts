import { roleIn } from "../../channel.ts";
import type { Channel } from "../../channel.ts";
import { MexError } from "./query.ts";
import type { MexQuery } from "./query.ts";
import type { Account } from "../../../world/accounts.ts";

type AllChannels = ReadonlyMap<string, Channel>;

/** Channels, as clients ask for them. */
export const createChannelQueries = (channels: AllChannels): Record<string, MexQuery> => ({
  "6563316087068696": {
    field: "xwa2_newsletter",
    answer({ device, variables }) {
      const { key, type } = (variables.input ?? {}) as { key?: string; type?: string };
      const all = [...channels.values()];
      const channel = all.find(({ id, invite }) => (type === "INVITE" ? invite === key : id === key));
      if (!channel) throw new MexError(404, "Not Found");
      return metadata(channel, device.account);
    },
  },
  "24404358912487870": change(channels, "xwa2_newsletter_join_v2", (channel, { number }) =>
    channel.followers.add(number),
  ),
  "9767147403369991": change(channels, "xwa2_newsletter_leave_v2", (channel, { number }) =>
    channel.followers.delete(number),
  ),
  "29766401636284406": change(channels, "xwa2_newsletter_mute_v2", (channel, { number }) =>
    channel.muted.add(number),
  ),
  "9864994326891137": change(channels, "xwa2_newsletter_unmute_v2", (channel, { number }) =>
    channel.muted.delete(number),
  ),
  "7130823597031706": {
    field: "xwa2_newsletter_admin",
    answer: ({ variables }) => ({ admin_count: channelOf(channels, variables).admins.size }),
  },
});

function change(
  channels: AllChannels,
  field: string,
  act: (channel: Channel, account: Account) => unknown,
): MexQuery {
  return {
    field,
    answer({ device, variables }) {
      const channel = channelOf(channels, variables);
      act(channel, device.account);
      return { id: channel.id, state: { type: "ACTIVE" } };
    },
  };
}

function channelOf(channels: AllChannels, variables: Record<string, unknown>): Channel {
  const channel = channels.get(String(variables.newsletter_id));
  if (!channel) throw new MexError(404, "Not Found");
  return channel;
}

function metadata(channel: Channel, account: Account): Record<string, unknown> {
  const created = String(channel.createdAt);
  const text = (id: string, words: string) => ({ id, text: words, update_time: `${created}000000` });
  return {
    id: channel.id,
    state: { type: "ACTIVE" },
    thread_metadata: {
      creation_time: created,
      name: text("1", channel.name),
      description: text("2", channel.description),
      invite: channel.invite,
      handle: null,
      picture: null,
      preview: null,
      settings: { reaction_codes: { value: "ALL" } },
      subscribers_count: String(channel.followers.size + channel.otherFollowers),
      verification: "UNVERIFIED",
    },
    viewer_metadata: {
      mute: channel.muted.has(account.number) ? "ON" : "OFF",
      role: roleIn(channel, account),
    },
  };
}
