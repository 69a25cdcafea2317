import type { GroupInfo } from "./groups.ts";

/** A group with all that its members may know of it. */
export interface GroupDetails extends GroupInfo {
  /** "" when it has none. */
  description: string;
  /** Who made it: digits, `…@lid`, or null when WhatsApp does not say. */
  owner: string | null;
  /** Unix milliseconds; null when WhatsApp does not say. */
  createdAt: number | null;
  /** Only admins change its name, description and timer. */
  locked: boolean;
  /** Admins decide who may join. */
  approval: boolean;
  /** The community that it belongs to, or null. */
  parent: string | null;
}

/** A group to be made. */
export interface NewGroup {
  subject: string;
  /** "" for none. */
  description: string;
  /** Addresses on the wire. */
  participants: readonly string[];
}

/** What is to be changed of a group; what is left out stays. */
export interface GroupSettings {
  subject?: string;
  /** "" takes it away. */
  description?: string;
  /** JPEG in base64; "" takes it away. */
  picture?: string;
  announce?: boolean;
  locked?: boolean;
  approval?: boolean;
  /** Seconds after which messages disappear; 0: they stay. */
  ephemeral?: number;
}

/** What may be done to members. */
export const MEMBER_ACTIONS = ["add", "remove", "promote", "demote"] as const;
export type MemberAction = (typeof MEMBER_ACTIONS)[number];

/** What may be done to people who have asked to join. */
export const REQUEST_ACTIONS = ["approve", "reject"] as const;
export type RequestAction = (typeof REQUEST_ACTIONS)[number];

/** What became of one of several people. */
export interface MemberOutcome {
  /** Address on the wire, as it was asked for. */
  jid: string;
  /** WhatsApp's code; null: it is done. */
  error: number | null;
}

/** Somebody who has asked to join. */
export interface JoinRequest {
  /** Digits, or null while only the LID is known. */
  number: string | null;
  lid: string | null;
  /** Unix milliseconds. */
  at: number;
}

/** What a number does with groups, as a member or an admin. All of it rejects with {@link GroupRefused}, or when WhatsApp does not answer. */
export interface GroupAdmin {
  details(id: string): Promise<GroupDetails>;
  /** @returns the group, and those who could not be added */
  create(wanted: NewGroup): Promise<{ group: GroupDetails; refused: MemberOutcome[] }>;
  change(id: string, settings: GroupSettings): Promise<void>;
  members(id: string, action: MemberAction, people: readonly string[]): Promise<MemberOutcome[]>;
  /** The code of its link. @param renew the one that was is no longer valid */
  invite(id: string, renew: boolean): Promise<string>;
  /** @param code of a link @returns `requested`: its admins decide */
  join(code: string): Promise<{ id: string; requested: boolean }>;
  leave(id: string): Promise<void>;
  requests(id: string): Promise<JoinRequest[]>;
  decide(id: string, action: RequestAction, people: readonly string[]): Promise<MemberOutcome[]>;
}

/** WhatsApp does not let the number do that. */
export class GroupRefused extends Error {
  /** WhatsApp's code: 401, 403 for those who are no admins, 404 for no member, 409, 410, 429. */
  readonly code: number;

  constructor(code: number) {
    super(`WhatsApp refused to change the group with error ${code}.`);
    this.name = "GroupRefused";
    this.code = code;
  }
}
