import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { DEFAULT_WAIT_MS } from "./patience.ts";
import type { FileHost } from "../people/link.ts";
import { compose, envelopeOf } from "../people/content.ts";
import type { Random } from "../random.ts";
import { CHANNEL_SERVER } from "../server/channels/channel.ts";
import type { Channel, ChannelState, StoredPost } from "../server/channels/channel.ts";
import type { ChannelNews } from "../server/channels/channel-news.ts";
import type { Channels } from "../server/channels/channels.ts";
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

    async reactInChannel(id, serverId, by, emoji) {
      if (!channels.react(known(channels, id), serverId, needs.world.account(by).number, emoji))
        throw new Error(`${id} has no post ${serverId}`);
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
    pictureId: undefined,
    state: "ACTIVE",
    invite: options.invite ?? `0029Va${stream.bytes(12).toString("base64url").replaceAll(/[-_]/g, "x")}`,
    createdAt: Math.floor(time.now() / 1000),
    otherFollowers,
    admins: new Set(admins),
    followers: new Set(followers),
    muted: new Set(),
    posts: [],
    viewers: new Map(),
  };
}

/** Who is made an admin, follows, or has muted it; each is told, by itself. */
const memberChanges: {
  [K in keyof ChannelChange]?: { act(channel: Channel, number: string): unknown; kind: ChannelNews["kind"] };
} = {
  addAdmins: { act: ({ admins }, number) => admins.add(number), kind: "promoted" },
  removeAdmins: { act: ({ admins }, number) => admins.delete(number), kind: "demoted" },
  follow: { act: ({ followers }, number) => followers.add(number), kind: "joined" },
  unfollow: { act: ({ followers }, number) => followers.delete(number), kind: "left" },
  mute: { act: ({ muted }, number) => muted.add(number), kind: "muted" },
  unmute: { act: ({ muted }, number) => muted.delete(number), kind: "unmuted" },
};

function applyChange({ world, channels, time }: Needs, channel: Channel, change: ChannelChange): void {
  for (const [name, { act, kind }] of Object.entries(memberChanges)) {
    for (const number of (change[name as keyof ChannelChange] as string[] | undefined) ?? []) {
      const user = world.account(number);
      act(channel, user.number);
      const actor = world.accounts.get([...channel.admins][0] ?? "") ?? user;
      channels.tell(channel, user, { kind, user, actor });
    }
  }
  const { name, description, picture, state } = change;
  if (name !== undefined) channel.name = name;
  if (description !== undefined) channel.description = description;
  if (picture !== undefined) channel.pictureId = picture ? String(Math.floor(time.now() / 1000)) : undefined;
  if (state !== undefined) channel.state = state.toUpperCase() as ChannelState;
  const isRenewed = name !== undefined || description !== undefined || picture !== undefined;
  for (const number of new Set([...channel.followers, ...channel.admins])) {
    const account = world.account(number);
    if (isRenewed) channels.tell(channel, account, { kind: "metadata" });
    if (state !== undefined) channels.tell(channel, account, { kind: "state" });
  }
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
