/** Channels ("newsletters"): posts in plain protobuf, from admins to followers. */
import type { PhoneNumber } from "./addresses.ts";
import type { Content, MessageBody } from "./content.ts";

/** What a channel is made of. */
export interface ChannelOptions {
  name: string;
  description?: string;
  /** Numbers of those who may post; the first is the owner. */
  admins?: PhoneNumber[];
  followers?: PhoneNumber[];
  /** Code of the invite link. Default: made from the seed. */
  invite?: string;
  /** Shown in the metadata beside the real ones: how many others follow. Default 0. */
  otherFollowers?: number;
}

/** What changes in a channel. */
export interface ChannelChange {
  addAdmins?: PhoneNumber[];
  removeAdmins?: PhoneNumber[];
  follow?: PhoneNumber[];
  unfollow?: PhoneNumber[];
  mute?: PhoneNumber[];
  unmute?: PhoneNumber[];
  name?: string;
  description?: string;
  /** There is a new picture, or none any more. */
  picture?: boolean;
  /** `deleted` is for ever: it cannot be found any more. */
  state?: "active" | "suspended" | "deleted";
}

/** A channel as it stands now. */
export interface ChannelInfo {
  /** `…@newsletter` */
  id: string;
  name: string;
  /** Code of the invite link. */
  invite: string;
  /** `https://whatsapp.com/channel/<invite>` */
  link: string;
  admins: PhoneNumber[];
  followers: PhoneNumber[];
}

/** A post as it stands in a channel. */
export interface ChannelPost extends MessageBody {
  seq: number;
  at: number;
  /** Number that the server gave the post, from 100 up within its channel. */
  serverId: number;
  /** Message id. */
  id: string;
  /** Who posted; undefined for posts of admins that are no account here. */
  from?: PhoneNumber;
}

/** Which posts; what is left out matches any. */
export interface PostFilter {
  id?: string;
  from?: PhoneNumber;
  text?: string;
  kind?: string;
  since?: number;
  /** Wait until so many match. Default 1. */
  count?: number;
}

/** Channels, made, changed and posted in from outside; companions do so by the protocol. */
export interface ChannelMethods {
  addChannel(options: ChannelOptions): Promise<ChannelInfo>;
  changeChannel(id: string, change: ChannelChange): Promise<ChannelInfo>;
  channel(id: string): Promise<ChannelInfo>;
  /** A post by an admin (default: one that is no account here). Files are stored unencrypted, as in real channels. */
  postInChannel(
    id: string,
    content: Content | string,
    options?: { by?: PhoneNumber; id?: string; timestamp?: number },
  ): Promise<{ id: string; serverId: number }>;
  /** Somebody puts an emoji to a post, or takes it away (empty); those who look at the channel hear of it. */
  reactInChannel(id: string, serverId: number, by: PhoneNumber, emoji: string): Promise<void>;
  /** What stands in a channel, oldest first. */
  channelPosts(id: string, filter?: PostFilter): Promise<ChannelPost[]>;
  /** Resolves as soon as a matching post is there. Default timeout 30 s. */
  waitForPost(id: string, filter?: PostFilter, timeoutMs?: number): Promise<ChannelPost>;
}
