import type { BinaryNode } from "../wire/nodes.ts";
import type { Account, Device } from "./accounts.ts";
import { LID_SERVER, PN_SERVER, parseJid } from "./jid.ts";
import type { Picture } from "./profiles.ts";

/** What a member may do in a group. */
export type Role = "member" | "admin" | "superadmin";

/** Somebody who has asked to join a group whose admins decide. */
interface JoinRequest {
  /** Unix seconds. */
  at: number;
  method: "invite_link" | "linked_group_join" | "non_admin_add";
}

/** Of one that its members were only told of there is no file. */
export type GroupPicture = Pick<Picture, "id"> & Partial<Picture>;

/** What an admin may send to somebody who lets nobody add him: it opens the group for him. */
export interface AddInvite {
  code: string;
  /** Unix seconds. */
  expiration: number;
  /** Number of the admin. */
  admin: string;
}

/** What is said of a group. */
export interface GroupDescription {
  id: string;
  text: string;
  /** Unix seconds. */
  at: number;
  /** Number of who has written it. */
  by: string;
}

/** A group and its members. */
export interface Group {
  readonly id: string;
  subject: string;
  /** Unix seconds. */
  readonly createdAt: number;
  subjectAt: number;
  /** Number of who has named it so. */
  subjectBy: string;
  creator: string;
  /** By which of their addresses the members are named. Groups move from numbers to LIDs. */
  addressing: "lid" | "pn";
  announce: boolean;
  locked: boolean;
  description: GroupDescription | undefined;
  /** Seconds after which messages disappear. */
  ephemeral: number | undefined;
  picture: GroupPicture | undefined;
  /** Admins decide who may join by the link. */
  approval: boolean;
  memberAddMode: "admin_add" | "all_member_add";
  /** Code of the invite link. */
  invite: string;
  readonly revokedInvites: Set<string>;
  /** By number. */
  readonly requests: Map<string, JoinRequest>;
  /** By number. */
  readonly addInvites: Map<string, AddInvite>;
  readonly isCommunity: boolean;
  readonly isCommunityAnnouncements: boolean;
  linkedParent: string | undefined;
  /** Number to role, in the order of joining. */
  readonly members: Map<string, Role>;
  /** What clients compare changes with: of the list of members, and of who may write. Microseconds; it rises with each change. */
  readonly versions: { members: number; announcement: number };
}

/** Who exists: accounts, their LIDs, groups and their members. Pure state, no traffic. */
export class World {
  readonly accounts = new Map<string, Account>();
  readonly groups = new Map<string, Group>();
  readonly #byLid = new Map<string, Account>();
  /** The last privacy token that somebody has given to somebody, by both numbers; `t` in Unix seconds. */
  readonly privacyTokens = new Map<string, { token: Buffer; t: number }>();

  /** @throws when the number or the LID is taken */
  addAccount(account: Account): Account {
    if (this.accounts.has(account.number)) throw new Error(`${account.number} exists already`);
    if (this.#byLid.has(account.lid)) throw new Error(`LID ${account.lid} belongs to another account`);
    this.accounts.set(account.number, account);
    this.#byLid.set(account.lid, account);
    return account;
  }

  /** Gives an account another LID; by the old one it is still found. @throws when it belongs to somebody */
  moveLid(account: Account, lid: string): void {
    if (this.#byLid.has(lid)) throw new Error(`LID ${lid} belongs to an account already`);
    account.lid = lid;
    this.#byLid.set(lid, account);
  }

  /** Nobody has the account's number and LIDs any more. */
  removeAccount(account: Account): void {
    this.accounts.delete(account.number);
    for (const [lid, owner] of this.#byLid) if (owner === account) this.#byLid.delete(lid);
    for (const { watchers } of this.accounts.values()) watchers.delete(account.number);
  }

  /** Is the address a LID that its owner has no more? */
  isFormerLid(address: string | undefined): boolean {
    const jid = parseJid(address);
    return jid?.server === LID_SERVER && this.#byLid.has(jid.user) && this.find(address)?.lid !== jid.user;
  }

  /** The account behind digits, a phone-number jid or a LID jid, with or without a device. */
  find(address: string | undefined): Account | undefined {
    if (address && /^\d+$/.test(address)) return this.accounts.get(address);
    const jid = parseJid(address);
    if (jid?.server === LID_SERVER) return this.#byLid.get(jid.user);
    return jid?.server === PN_SERVER ? this.accounts.get(jid.user) : undefined;
  }

  /** The account that a number, in whatever form, belongs to. */
  findByPhone(phone: string): Account | undefined {
    const isFormOf = ({ otherForms }: Account): boolean => otherForms.includes(phone);
    return this.accounts.get(phone) ?? [...this.accounts.values()].find(isFormOf);
  }

  /** The device behind a device jid; a jid without a device is the phone. */
  device(jid: string | undefined): Device | undefined {
    return this.find(jid)?.devices.get(parseJid(jid)?.device ?? 0);
  }

  /** @throws when there is no such account */
  account(address: string): Account {
    const account = this.find(address);
    if (!account) throw new Error(`no account ${address}: add it with addNumber or addContact first`);
    return account;
  }

  /** @throws when there is no such group */
  group(id: string): Group {
    const group = this.groups.get(id);
    if (!group) throw new Error(`no group ${id}: add it with addGroup first`);
    return group;
  }

  /** Number of the one who wrote a message, as its stanza names the writer; empty when nobody here did. */
  authorOf({ attrs }: BinaryNode): string {
    return this.find(attrs.participant ?? attrs.from)?.number ?? "";
  }

  groupsOf(number: string): Group[] {
    return [...this.groups.values()].filter((group) => group.members.has(number));
  }

  /** Groups of a community, its announcements among them. */
  linkedGroups(parent: string): Group[] {
    return [...this.groups.values()].filter(({ linkedParent }) => linkedParent === parent);
  }
}
