import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { summarize, unwrap } from "../people/content.ts";
import { fileOf } from "../people/content/media.ts";
import { sha256 } from "../people/media-file.ts";
import type { ChannelPost } from "../surface/channels.ts";
import { bytes, child, children, element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Account } from "../world.ts";
import { listedDevices } from "./device-lists.ts";
import type { Device } from "./device.ts";
import { SERVER_JID } from "./jid.ts";
import type { Verdict } from "./messages.ts";
import type { SimulatorServer } from "./server.ts";

export const CHANNEL_SERVER = "newsletter";
export const isChannelJid = (jid: string): boolean => jid.endsWith(`@${CHANNEL_SERVER}`);

/** What the ack of a post says that is not shaped as posts must be: the service's word for it is "invalid stanza". */
const INVALID_POST = 479;
const NOT_ALLOWED = 403;

export type ChannelRole = "OWNER" | "ADMIN" | "SUBSCRIBER" | "GUEST";

/** A post with what it is made of. */
export interface StoredPost {
  told: ChannelPost;
  plaintext: Buffer;
  type: string;
  mediaType?: string;
}

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

/** Server ids begin here in each channel. */
const FIRST_SERVER_ID = 100;

export function roleIn(channel: Channel, { number }: Account): ChannelRole {
  if ([...channel.admins][0] === number) return "OWNER";
  if (channel.admins.has(number)) return "ADMIN";
  return channel.followers.has(number) ? "SUBSCRIBER" : "GUEST";
}

/** Takes a client's post or reaction. What real channels refuse is refused. */
export function postInChannel(server: SimulatorServer, sender: Device, node: BinaryNode): Verdict {
  const channel = server.channels.get(node.attrs.to!);
  if (!channel) return { error: 404 };
  if (node.attrs.type === "reaction") return reactInChannel(channel, node);
  const plaintext = bytes(child(node, "plaintext"));
  if (!plaintext || children(node, "enc").length > 0) {
    server.violations.report("channel_post", sender.label, `${node.attrs.id}: posts are one plaintext`);
    return { error: INVALID_POST };
  }
  if (!channel.admins.has(sender.account.number)) return { error: NOT_ALLOWED };
  const { mediatype: mediaType } = child(node, "plaintext")!.attrs;
  const problem = problemOf(server, plaintext, mediaType);
  if (problem) {
    server.refusedPosts.push({ id: node.attrs.id!, channel: channel.id, reason: problem });
    return { error: INVALID_POST };
  }
  const { id, type = "text" } = node.attrs;
  const post = addPost(server, channel, { id: id!, plaintext, type, mediaType, from: sender });
  return { serverId: post.told.serverId };
}

function reactInChannel(channel: Channel, { attrs, content }: BinaryNode): Verdict {
  const isKnown = channel.posts.some(({ told: { serverId } }) => String(serverId) === attrs.server_id);
  const isReaction = Array.isArray(content) && content[0]?.tag === "reaction";
  return isKnown && isReaction ? {} : { error: INVALID_POST };
}

/** Why the service takes no such post; undefined when it does. */
function problemOf(server: SimulatorServer, plaintext: Buffer, mediaType?: string): string | undefined {
  let message: proto.IMessage;
  try {
    message = unwrap(proto.Message.decode(plaintext));
  } catch {
    return "no message";
  }
  const { kind } = summarize(message);
  if (kind === "poll" || kind === "vote") return "polls are not for channels";
  const found = fileOf(message);
  if (!found) return undefined;
  if (found.file.mediaKey?.length) return "the file is encrypted";
  const stored = server.media.find(found.file.directPath ?? "");
  if (!stored?.type.startsWith("newsletter-")) return "the file was not uploaded for channels";
  if (!found.file.fileSha256 || !sha256(stored.bytes).equals(found.file.fileSha256)) return "the file's hash";
  return mediaType ? undefined : "the plaintext has no mediatype";
}

/** Puts a post into a channel and sends it to the companions of everybody who follows it. */
export function addPost(
  server: SimulatorServer,
  channel: Channel,
  given: {
    id: string;
    plaintext: Buffer;
    type: string;
    mediaType?: string;
    from?: Device | string;
    t?: string;
  },
): StoredPost {
  const { id, plaintext, type, mediaType, from } = given;
  const author = typeof from === "string" ? from : from?.account.number;
  const told: ChannelPost = {
    ...summarize(proto.Message.decode(plaintext)),
    seq: server.nextPost(),
    at: given.t ? Number(given.t) * 1000 : server.clock(),
    serverId: FIRST_SERVER_ID + channel.posts.length,
    id,
    from: author,
  };
  const post: StoredPost = { told, plaintext, type, mediaType };
  channel.posts.push(post);
  const readers = new Set([...channel.followers, ...channel.admins]);
  for (const number of readers) {
    for (const device of listedDevices(server.world.account(number))) {
      // Phones show channels as well, but nothing here looks at what they show.
      if (device.id === 0 || device === from) continue;
      server.deliver(device, messageNode(channel, post));
    }
  }
  server.changed();
  return post;
}

function messageNode(channel: Channel, post: StoredPost): BinaryNode {
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
      const { tag, attrs, content } = messageNode(channel, post);
      return element(tag, { ...attrs, from: undefined }, content);
    });
}

/** Tells an account's companions that something about a channel changed for it. */
export function tellOfChannel(
  server: SimulatorServer,
  account: Account,
  operation: string,
  update: Record<string, unknown>,
): void {
  const data = Buffer.from(JSON.stringify({ operation, updates: [update] }));
  for (const device of listedDevices(account)) {
    if (device.id === 0) continue;
    const attrs = { from: SERVER_JID, type: "mex", id: server.nextId(), t: server.now() };
    server.deliver(device, element("notification", attrs, [element("mex", {}, data)]));
  }
}
