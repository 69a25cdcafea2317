/** A channel ("newsletter"), and how its posts look on the wire. */
import type { ChannelPost } from "../surface/channels.ts";
import { element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Account } from "../world/accounts.ts";

/** Where channels are addressed. */
export const CHANNEL_SERVER = "newsletter";

/** A post with what it is made of. */
export interface StoredPost {
  told: ChannelPost;
  plaintext: Buffer;
  type: string;
  mediaType?: string;
}

/** A channel with everything that was posted in it. */
export interface Channel {
  readonly id: string;
  name: string;
  readonly description: string;
  readonly invite: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly otherFollowers: number;
  /** Numbers; the first is the owner. */
  readonly admins: Set<string>;
  readonly followers: Set<string>;
  readonly muted: Set<string>;
  readonly posts: StoredPost[];
}

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
