/** A channel ("newsletter"), and how its posts look on the wire. */
import type { ChannelPost } from "../../surface/channels.ts";
import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Account, Device } from "../../world/accounts.ts";

/** Where channels are addressed. */
export const CHANNEL_SERVER = "newsletter";

/** A post with what it is made of. */
export interface StoredPost {
  told: ChannelPost;
  plaintext: Buffer;
  type: string;
  mediaType?: string;
  /** The emoji that each number has put to it. */
  reactions: Map<string, string>;
}

/** A channel with everything that was posted in it. */
export interface Channel {
  readonly id: string;
  name: string;
  description: string;
  pictureId: string | undefined;
  state: ChannelState;
  readonly invite: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly otherFollowers: number;
  /** Numbers; the first is the owner. */
  readonly admins: Set<string>;
  readonly followers: Set<string>;
  readonly muted: Set<string>;
  readonly posts: StoredPost[];
  /** Companions that look at it, and until when they are kept up to date (milliseconds). */
  readonly viewers: Map<Device, number>;
}

/** What has become of a channel. */
export type ChannelState = "ACTIVE" | "SUSPENDED" | "DELETED";

/** Does the address name a channel? */
export const isChannelJid = (jid: string): boolean => jid.endsWith(`@${CHANNEL_SERVER}`);

/** What an account is in a channel, in the words of `viewer_metadata`. */
export function roleIn(channel: Channel, { number }: Account): "OWNER" | "ADMIN" | "SUBSCRIBER" | "GUEST" {
  if ([...channel.admins][0] === number) return "OWNER";
  if (channel.admins.has(number)) return "ADMIN";
  return channel.followers.has(number) ? "SUBSCRIBER" : "GUEST";
}

/** A post as it is delivered: one plaintext, no ciphertext. */
export function postNode(channel: Channel, post: StoredPost): BinaryNode {
  const attrs = {
    from: channel.id,
    id: post.told.id,
    type: post.type,
    server_id: String(post.told.serverId),
    t: String(Math.floor(post.told.at / 1000)),
  };
  return element("message", attrs, [element("plaintext", { mediatype: post.mediaType }, post.plaintext)]);
}

/** Posts as they are listed in an answer, newest `count` of them with a server id below `before` and above `after`. */
export function listPosts(
  channel: Channel,
  { count = 50, before = Infinity, after = 0 }: { count?: number; before?: number; after?: number },
): BinaryNode[] {
  return channel.posts
    .filter(({ told: { serverId } }) => serverId < before && serverId > after)
    .slice(-count)
    .map((post) => {
      const { tag, attrs, content } = postNode(channel, post);
      return element(tag, { ...attrs, from: undefined }, content);
    });
}

/** What a post has gathered, as those hear who look at its channel: `live_updates > messages > message@server_id`. */
export function liveUpdateNode(channel: Channel, { told, reactions }: StoredPost, now: string): BinaryNode {
  const counts = new Map<string, number>();
  for (const code of reactions.values()) counts.set(code, (counts.get(code) ?? 0) + 1);
  const list = [...counts].map(([code, count]) => element("reaction", { code, count: String(count) }));
  const message = element("message", { server_id: String(told.serverId) }, [element("reactions", {}, list)]);
  return element("live_updates", {}, [element("messages", { jid: channel.id, t: now }, [message])]);
}

/** What is said of a channel, to somebody who may follow it or not. */
export function channelMetadata(channel: Channel, account: Account): Record<string, unknown> {
  return {
    id: channel.id,
    state: { type: channel.state },
    thread_metadata: threadMetadata(channel),
    viewer_metadata: {
      mute: channel.muted.has(account.number) ? "ON" : "OFF",
      role: roleIn(channel, account),
    },
  };
}

/** What is the same for everybody. */
export function threadMetadata(channel: Channel): Record<string, unknown> {
  const created = String(channel.createdAt);
  const text = (id: string, words: string) => ({ id, text: words, update_time: `${created}000000` });
  return {
    creation_time: created,
    name: text("1", channel.name),
    description: text("2", channel.description),
    invite: channel.invite,
    handle: null,
    picture: channel.pictureId ? { id: channel.pictureId, type: "IMAGE", direct_path: "" } : null,
    preview: null,
    settings: { reaction_codes: { value: "ALL" } },
    subscribers_count: String(channel.followers.size + channel.otherFollowers),
    verification: "UNVERIFIED",
  };
}
