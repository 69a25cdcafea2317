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
  /** A community's parent group, or a group that belongs to one. */
  community?: { parent?: true; linkedParent?: string; announcements?: true };
}

/** What changes in a group; each kind of change is told to its members by a notification of its own. */
export interface GroupChange {
  add?: PhoneNumber[];
  remove?: PhoneNumber[];
  promote?: PhoneNumber[];
  demote?: PhoneNumber[];
  announce?: boolean;
  locked?: boolean;
  subject?: string;
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
  members: { number: PhoneNumber; lid: string; role: "member" | "admin" | "superadmin" }[];
}

/** Groups, made and changed from outside; companions change them by the protocol. */
export interface GroupMethods {
  addGroup(options: GroupOptions): Promise<GroupInfo>;
  changeGroup(id: string, change: GroupChange): Promise<GroupInfo>;
  group(id: string): Promise<GroupInfo>;
}
