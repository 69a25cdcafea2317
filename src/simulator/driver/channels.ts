import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { FileHost } from "../people/link.ts";
import { compose, envelopeOf } from "../people/content.ts";
import type { Random } from "../random.ts";
import { CHANNEL_SERVER } from "../server/channel.ts";
import type { Channel, StoredPost } from "../server/channel.ts";
import type { Channels } from "../server/channels.ts";
import type {
  ChannelChange,
  ChannelInfo,
  ChannelMethods,
  ChannelOptions,
  PostFilter,
} from "../surface/channels.ts";
import type { Time } from "../time.ts";
import type { World } from "../world/world.ts";
import { withBytes } from "./conversations.ts";

const DEFAULT_WAIT_MS = 10_000;

interface Needs {
  world: World;
  random: Random;
  time: Time;
  channels: Channels;
  files: FileHost;
  until(condition: () => boolean, timeoutMs: number): Promise<boolean>;
}

/** Channels and what is posted in them. */
export function createChannelMethods(needs: Needs): ChannelMethods {
  const { channels, random } = needs;
  let lastPost = 0;
  return {
    async addChannel(options) {
      const channel = newChannel(needs, options);
      channels.all.set(channel.id, channel);
      return channelInfo(channel);
    },

    async changeChannel(id, change) {
      const channel = known(channels, id);
      applyChange(needs, channel, change);
      return channelInfo(channel);
    },

    async channel(id) {
      return channelInfo(known(channels, id));
    },

    async postInChannel(id, content, { id: postId, by, timestamp } = {}) {
      const channel = known(channels, id);
      const stream = random.fork(`post:${++lastPost}`);
      if (by !== undefined && !channel.admins.has(by))
        throw new Error(`${by} is no admin of ${channel.name} and cannot post there`);
      const desk = { random: stream, now: needs.time.now, store: needs.files.store };
      const message = compose(await withBytes(content), desk, {}, { inChannel: true });
      const { told } = channels.add(channel, {
        id: postId ?? `3A${stream.bytes(9).toString("hex").toUpperCase()}`,
        plaintext: Buffer.from(proto.Message.encode(message).finish()),
        ...envelopeOf(message),
        from: by,
        at: timestamp === undefined ? undefined : timestamp * 1000,
      });
      return { id: told.id, serverId: told.serverId };
    },

    async channelPosts(id, filter = {}) {
      return postsIn(known(channels, id), filter).map(({ told }) => ({ ...told }));
    },

    async waitForPost(id, filter = {}, timeoutMs = DEFAULT_WAIT_MS) {
      const wanted = filter.count ?? 1;
      const found = () => postsIn(known(channels, id), filter);
      await needs.until(() => found().length >= wanted, timeoutMs);
      const post = found()[wanted - 1];
      if (post) return { ...post.told };
      const sought = JSON.stringify(filter);
      const refused = JSON.stringify(channels.refused.filter(({ channel }) => channel === id));
      throw new Error(`${id} has no post ${sought} after ${timeoutMs} ms; refused: ${refused}`);
    },
  };
}

/** @throws when there is none */
function known(channels: Channels, id: string): Channel {
  const channel = channels.all.get(id);
  if (!channel) throw new Error(`no channel ${id}: add it with addChannel first`);
  return channel;
}

function newChannel({ world, random, time, channels }: Needs, options: ChannelOptions): Channel {
  const { name, description = "", admins = [], followers = [], otherFollowers = 0 } = options;
  for (const number of [...admins, ...followers]) world.account(number);
  const stream = random.fork(`channel:${channels.all.size + 1}`);
  const digits = stream.integer(1_000_000_000).toString().padStart(12, "0");
  return {
    id: `120363${digits}@${CHANNEL_SERVER}`,
    name,
    description,
    invite: options.invite ?? `0029Va${stream.bytes(12).toString("base64url").replaceAll(/[-_]/g, "x")}`,
    createdAt: Math.floor(time.now() / 1000),
    otherFollowers,
    admins: new Set(admins),
    followers: new Set(followers),
    muted: new Set(),
    posts: [],
  };
}

function applyChange({ world, channels }: Needs, channel: Channel, change: ChannelChange): void {
  const tell = (number: string, operation: string): void => {
    const account = world.account(number);
    channels.tell(account, operation, { jid: channel.id, user: account.devices.get(0)!.lid });
  };
  for (const number of change.addAdmins ?? []) {
    channel.admins.add(world.account(number).number);
    tell(number, "NotificationNewsletterAdminPromote");
  }
  for (const number of change.removeAdmins ?? []) {
    channel.admins.delete(number);
    tell(number, "NotificationNewsletterAdminDemote");
  }
  for (const number of change.follow ?? []) channel.followers.add(world.account(number).number);
  for (const number of change.unfollow ?? []) channel.followers.delete(number);
  if (change.name === undefined) return;
  channel.name = change.name;
  const update = { jid: channel.id, settings: { name: change.name } };
  for (const number of channel.followers)
    channels.tell(world.account(number), "NotificationNewsletterUpdate", update);
}

function postsIn({ posts }: Channel, filter: PostFilter): StoredPost[] {
  return posts.filter(
    ({ told: post }) =>
      (filter.id === undefined || post.id === filter.id) &&
      (filter.from === undefined || post.from === filter.from) &&
      (filter.text === undefined || post.text === filter.text) &&
      (filter.kind === undefined || post.kind === filter.kind) &&
      (filter.since === undefined || post.seq > filter.since),
  );
}

function channelInfo({ id, name, invite, admins, followers }: Channel): ChannelInfo {
  const link = `https://whatsapp.com/channel/${invite}`;
  return { id, name, invite, link, admins: [...admins], followers: [...followers] };
}
