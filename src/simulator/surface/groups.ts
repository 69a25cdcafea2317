/** Groups: making them, and what happens to them. */
import type { PhoneNumber } from "./addresses.ts";

/** What a group is made of. */
export interface GroupOptions {
  subject: string;
  /** Number of the creator, who is superadmin. Default: the first member. */
  creator?: PhoneNumber;
  members: PhoneNumber[];
  admins?: PhoneNumber[];
  /** How members are named inside the group. Default `'lid'`. */
  addressing?: "lid" | "pn";
  /** Only admins may write. */
  announce?: boolean;
  /** Only admins may change the group's settings. */
  locked?: boolean;
  description?: string;
  /** Seconds after which messages disappear. */
  ephemeral?: number;
  /** Admins decide who may join by the invite link. Default false. */
  approval?: boolean;
  /** Who may add members. Default admins. */
  memberAddMode?: "admin_add" | "all_member_add";
  /** A community's parent group, or a group that belongs to one. See `addCommunity` for a whole one. */
  community?: { parent?: true; linkedParent?: string; announcements?: true };
}

/** What changes in a group; each kind of change is told to its members by a notification of its own. */
export interface GroupChange {
  add?: PhoneNumber[];
  remove?: PhoneNumber[];
  /** Each of them leaves by itself. */
  leave?: PhoneNumber[];
  /** They follow the invite link; where admins decide, they have asked then. */
  join?: PhoneNumber[];
  /** Those who have asked become members, or are turned away. */
  approve?: PhoneNumber[];
  reject?: PhoneNumber[];
  promote?: PhoneNumber[];
  demote?: PhoneNumber[];
  announce?: boolean;
  locked?: boolean;
  subject?: string;
  /** Empty: there is none any more. */
  description?: string;
  /** Seconds after which messages disappear; 0: they stay. */
  ephemeral?: number;
  /** There is a new picture, or none any more. */
  picture?: boolean;
  approval?: boolean;
  memberAddMode?: "admin_add" | "all_member_add";
  /** The invite link is another one. */
  revokeInvite?: true;
  /** The group moves to LIDs (or back), as the service does it: nobody is told. */
  addressing?: "lid" | "pn";
  /** Of a community: groups that come to it, and that leave it. */
  link?: string[];
  unlink?: string[];
  /** The group is no more. */
  delete?: true;
  /** Who does it. Default: the group's creator. */
  by?: PhoneNumber;
}

/** A group as it stands now. */
export interface GroupInfo {
  /** `…@g.us` */
  id: string;
  subject: string;
  addressing: "lid" | "pn";
  announce: boolean;
  locked: boolean;
  description: string;
  /** Seconds; 0: messages stay. */
  ephemeral: number;
  approval: boolean;
  /** Numbers of those who have asked to join. */
  requests: PhoneNumber[];
  /** `https://chat.whatsapp.com/<code>` */
  inviteLink: string;
  /** Of the community that it belongs to. */
  linkedParent?: string;
  members: { number: PhoneNumber; lid: string; role: "member" | "admin" | "superadmin" }[];
}

/** Groups, made and changed from outside; companions change them by the protocol. */
export interface GroupMethods {
  addGroup(options: GroupOptions): Promise<GroupInfo>;
  changeGroup(id: string, change: GroupChange): Promise<GroupInfo>;
  group(id: string): Promise<GroupInfo>;
  /** A community: the parent group, in which nobody writes, and its announcements. Options are those of the parent. */
  addCommunity(options: GroupOptions): Promise<{ parent: GroupInfo; announcements: GroupInfo }>;
  /** Devices that can read what a device of `number` has written last in a group: `number:device`, sorted. Default device 1. */
  senderKeyHolders(id: string, number: PhoneNumber, device?: number): Promise<string[]>;
  /** Tells a number's companions that something of theirs may be out of date: `ib > dirty@type`. */
  tellDirty(number: PhoneNumber, type: "groups" | "communities" | "newsletter_metadata"): Promise<void>;
}
