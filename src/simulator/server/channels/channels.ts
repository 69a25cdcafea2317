import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { MediaStore } from "../../media/store.ts";
import { summarize, unwrap } from "../../people/content.ts";
import { fileOf } from "../../people/content/media.ts";
import { sha256 } from "../../people/messages/media-file.ts";
import type { ChannelPost } from "../../surface/channels.ts";
import type { Time } from "../../time.ts";
import { bytes, child, children, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { listedDevices } from "../../world/accounts.ts";
import type { Account, Device } from "../../world/accounts.ts";
import { SERVER_JID } from "../../world/jid.ts";
import type { World } from "../../world/world.ts";
import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import { liveUpdateNode, postNode } from "./channel.ts";
import type { Channel, StoredPost } from "./channel.ts";
import { newsNode } from "./channel-news.ts";
import type { ChannelNews } from "./channel-news.ts";
import type { Deliveries, MessageOutcome, Movement, Reports, Stamps } from "../ports.ts";

/** Ack error for a malformed post; the service calls it "invalid stanza". */
const INVALID_POST = 479;
const NOT_ALLOWED = 403;
const UNKNOWN_CHANNEL = 404;
/** The first server id in every channel. */
const FIRST_SERVER_ID = 100;

interface Needs extends Stamps, Deliveries, Reports, Movement {
  world: World;
  media: MediaStore;
  time: Time;
  behaviour: ServiceBehaviour;
}

/** A post before it is added to its channel. */
interface NewPost {
  id: string;
  /** An encoded `Message`. */
  plaintext: Buffer;
  /** The stanza's `type`. */
  type: string;
  mediaType?: string;
  /** The device, or the number, of the one who posts; undefined for admins that are no account here. */
  from?: Device | string;
  /** Milliseconds. Default: now. */
  at?: number;
}

/** A post that was refused, and why. */
interface RefusedPost {
  id: string;
  channel: string;
  reason: string;
}

/** Channels and their posts. */
export interface Channels {
  /** By address. */
  readonly all: Map<string, Channel>;
  readonly refused: RefusedPost[];
  /** Handles a client's post or reaction; whatever real channels refuse is refused. */
  take(sender: Device, message: BinaryNode): MessageOutcome;
  /** Puts a post into a channel and sends it to the companions of everybody who follows it. */
  add(channel: Channel, post: NewPost): StoredPost;
  /** Tells an account's companions (`notification type=mex`) that something about a channel changed; not the one that has changed it. */
  tell(channel: Channel, account: Account, news: ChannelNews, except?: Device): void;
  /** Puts an emoji to a post, or takes it away (empty), and tells those who look at the channel. False: there is no such post. */
  react(channel: Channel, serverId: number, number: string, emoji: string): boolean;
}

/** The channels of one service, none at first. */
export function createChannels(needs: Needs): Channels {
  const all = new Map<string, Channel>();
  const refused: RefusedPost[] = [];
  let lastPost = 0;
  const add = (channel: Channel, post: NewPost): StoredPost => addPost(needs, channel, post, ++lastPost);

  return {
    all,
    refused,
    add,
    react: (channel, serverId, number, emoji) => react(needs, channel, serverId, { number, emoji }),
    tell(channel, account, news, except) {
      for (const device of listedDevices(account)) {
        if (device.id === 0 || device === except) continue;
        const attrs = { from: SERVER_JID, type: "mex", id: needs.nextId(), t: needs.now() };
        const content = [newsNode(needs.behaviour, channel, account, news)];
        needs.deliver(device, element("notification", attrs, content));
      }
    },
    take(sender, node) {
      const channel = all.get(node.attrs.to!);
      if (!channel || channel.state === "DELETED") return { error: UNKNOWN_CHANNEL };
      if (node.attrs.type === "reaction") return takeReaction(needs, channel, sender, node);
      const plaintext = bytes(child(node, "plaintext"));
      if (!plaintext || children(node, "enc").length > 0) {
        needs.violations.report("channel_post", sender.label, `${node.attrs.id}: posts are one plaintext`);
        return { error: INVALID_POST };
      }
      const mayPost = channel.state === "ACTIVE" && channel.admins.has(sender.account.number);
      if (!mayPost) return { error: NOT_ALLOWED };
      const { mediatype: mediaType } = child(node, "plaintext")!.attrs;
      const { id, type = "text" } = node.attrs;
      const reason = problemOf(needs.media, plaintext, mediaType);
      if (reason) {
        refused.push({ id: id!, channel: channel.id, reason });
        return { error: INVALID_POST };
      }
      const { told } = add(channel, { id: id!, plaintext, type, mediaType, from: sender });
      return { serverId: told.serverId };
    },
  };
}

function takeReaction(needs: Needs, channel: Channel, sender: Device, node: BinaryNode): MessageOutcome {
  const reaction = child(node, "reaction");
  const { number } = sender.account;
  const emoji = reaction?.attrs.code ?? "";
  const isKnown = reaction && react(needs, channel, Number(node.attrs.server_id), { number, emoji });
  return isKnown ? {} : { error: INVALID_POST };
}

function react(
  needs: Needs,
  channel: Channel,
  serverId: number,
  { number, emoji }: { number: string; emoji: string },
): boolean {
  const post = channel.posts.find(({ told }) => told.serverId === serverId);
  if (!post) return false;
  if (emoji === "") post.reactions.delete(number);
  else post.reactions.set(number, emoji);
  for (const [device, until] of channel.viewers) {
    if (until < needs.time.now()) continue;
    const attrs = { from: channel.id, type: "newsletter", id: needs.nextId(), t: needs.now() };
    needs.deliver(device, element("notification", attrs, [liveUpdateNode(channel, post, needs.now())]));
  }
  return true;
}

/** Why the service refuses a post; undefined when it accepts it. */
function problemOf(media: MediaStore, plaintext: Buffer, mediaType?: string): string | undefined {
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
  const stored = media.find(found.file.directPath ?? "");
  if (!stored?.type.startsWith("newsletter-")) return "the file was not uploaded for channels";
  if (!found.file.fileSha256 || !sha256(stored.bytes).equals(found.file.fileSha256)) return "the file's hash";
  return mediaType ? undefined : "the plaintext has no mediatype";
}

function addPost(needs: Needs, channel: Channel, given: NewPost, seq: number): StoredPost {
  const { id, plaintext, type, mediaType, from } = given;
  const told: ChannelPost = {
    ...summarize(proto.Message.decode(plaintext)),
    seq,
    at: given.at ?? needs.time.now(),
    serverId: FIRST_SERVER_ID + channel.posts.length,
    id,
    from: typeof from === "string" ? from : from?.account.number,
  };
  const post: StoredPost = { told, plaintext, type, mediaType, reactions: new Map() };
  channel.posts.push(post);
  const readers = new Set([...channel.followers, ...channel.admins]);
  for (const number of readers) {
    for (const device of listedDevices(needs.world.account(number))) {
      // Phones show channels as well, but nothing here looks at what they show.
      if (device.id === 0 || device === from) continue;
      needs.deliver(device, postNode(channel, post));
    }
  }
  needs.changed();
  return post;
}
