/** Channels ("newsletters"): posts in plain protobuf, from admins to followers. */
import type { PhoneNumber } from "../types.ts";
import type { MessageBody } from "./content.ts";

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

export interface ChannelChange {
  addAdmins?: PhoneNumber[];
  removeAdmins?: PhoneNumber[];
  follow?: PhoneNumber[];
  unfollow?: PhoneNumber[];
  name?: string;
}

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

export interface PostFilter {
  id?: string;
  from?: PhoneNumber;
  text?: string;
  kind?: string;
  since?: number;
  /** Wait until so many match. Default 1. */
  count?: number;
}
