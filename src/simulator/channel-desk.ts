import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { Conversations, withBytes } from "./conversations.ts";
import { phoneFiles } from "./media/phone-files.ts";
import { compose, envelopeOf } from "./people/content.ts";
import { CHANNEL_SERVER, addPost, tellOfChannel } from "./server/channels.ts";
import type { Channel, StoredPost } from "./server/channels.ts";
import type * as Types from "./types.ts";

const DEFAULT_WAIT_MS = 10_000;

/** Channels and what is posted in them; see {@link Types.Simulator}. */
export class ChannelDesk extends Conversations {
  #lastPost = 0;

  async addChannel(options: Types.ChannelOptions): Promise<Types.ChannelInfo> {
    const { server } = this;
    const { name, description = "", admins = [], followers = [], otherFollowers = 0 } = options;
    for (const number of [...admins, ...followers]) server.world.account(number);
    const random = server.random.fork(`channel:${server.channels.size + 1}`);
    const digits = random.integer(1_000_000_000).toString().padStart(12, "0");
    const channel: Channel = {
      id: `120363${digits}@${CHANNEL_SERVER}`,
      name,
      description,
      invite: options.invite ?? `0029Va${random.bytes(12).toString("base64url").replaceAll(/[-_]/g, "x")}`,
      createdAt: Math.floor(server.clock() / 1000),
      otherFollowers,
      admins: new Set(admins),
      followers: new Set(followers),
      muted: new Set(),
      posts: [],
    };
    server.channels.set(channel.id, channel);
    return channelInfo(channel);
  }

  async changeChannel(id: string, change: Types.ChannelChange): Promise<Types.ChannelInfo> {
    const channel = this.#channel(id);
    const { world } = this.server;
    for (const number of change.addAdmins ?? []) {
      channel.admins.add(world.account(number).number);
      this.#tell(number, "NotificationNewsletterAdminPromote", channel);
    }
    for (const number of change.removeAdmins ?? []) {
      channel.admins.delete(number);
      this.#tell(number, "NotificationNewsletterAdminDemote", channel);
    }
    for (const number of change.follow ?? []) channel.followers.add(world.account(number).number);
    for (const number of change.unfollow ?? []) channel.followers.delete(number);
    if (change.name !== undefined) {
      channel.name = change.name;
      const update = { jid: id, settings: { name: change.name } };
      for (const number of channel.followers)
        tellOfChannel(this.server, world.account(number), "NotificationNewsletterUpdate", update);
    }
    return channelInfo(channel);
  }

  async channel(id: string): Promise<Types.ChannelInfo> {
    return channelInfo(this.#channel(id));
  }

  async postInChannel(
    id: string,
    content: Types.Content | string,
    options: { by?: string; id?: string; timestamp?: number } = {},
  ): Promise<{ id: string; serverId: number }> {
    const { server } = this;
    const channel = this.#channel(id);
    const random = server.random.fork(`post:${++this.#lastPost}`);
    if (options.by !== undefined && !channel.admins.has(options.by))
      throw new Error(`${options.by} is no admin of ${channel.name} and cannot post there`);
    const desk = { random, now: server.clock, store: phoneFiles(() => server.media).store };
    const message = compose(await withBytes(content), desk, {}, { inChannel: true });
    const { type, mediaType } = envelopeOf(message);
    const { told } = addPost(server, channel, {
      id: options.id ?? `3A${random.bytes(9).toString("hex").toUpperCase()}`,
      plaintext: Buffer.from(proto.Message.encode(message).finish()),
      type,
      mediaType,
      from: options.by,
      t: options.timestamp === undefined ? undefined : String(options.timestamp),
    });
    return { id: told.id, serverId: told.serverId };
  }

  async channelPosts(id: string, filter: Types.PostFilter = {}): Promise<Types.ChannelPost[]> {
    return this.#posts(id, filter).map(({ told }) => ({ ...told }));
  }

  async waitForPost(
    id: string,
    filter: Types.PostFilter = {},
    timeoutMs = DEFAULT_WAIT_MS,
  ): Promise<Types.ChannelPost> {
    const wanted = filter.count ?? 1;
    await this.server.until(() => this.#posts(id, filter).length >= wanted, timeoutMs);
    const post = (await this.channelPosts(id, filter))[wanted - 1];
    if (post) return post;
    const refused = this.server.refusedPosts.filter(({ channel }) => channel === id);
    throw new Error(
      `${id} has no post ${JSON.stringify(filter)} after ${timeoutMs} ms; refused: ${JSON.stringify(refused)}`,
    );
  }

  #posts(id: string, filter: Types.PostFilter): StoredPost[] {
    return this.#channel(id).posts.filter(
      ({ told: post }) =>
        (filter.id === undefined || post.id === filter.id) &&
        (filter.from === undefined || post.from === filter.from) &&
        (filter.text === undefined || post.text === filter.text) &&
        (filter.kind === undefined || post.kind === filter.kind) &&
        (filter.since === undefined || post.seq > filter.since),
    );
  }

  #channel(id: string): Channel {
    const channel = this.server.channels.get(id);
    if (!channel) throw new Error(`no channel ${id}: add it with addChannel first`);
    return channel;
  }

  #tell(number: string, operation: string, channel: Channel): void {
    const account = this.server.world.account(number);
    const user = account.devices.get(0)!.lid;
    tellOfChannel(this.server, account, operation, { jid: channel.id, user });
  }
}

function channelInfo({ id, name, invite, admins, followers }: Channel): Types.ChannelInfo {
  const link = `https://whatsapp.com/channel/${invite}`;
  return { id, name, invite, link, admins: [...admins], followers: [...followers] };
}
