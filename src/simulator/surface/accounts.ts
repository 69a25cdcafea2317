/** Who exists: numbers that can be linked, contacts, and the companions that were linked. */
import type { Address, PhoneNumber } from "./addresses.ts";
import type { Content, SendOptions, Sent, StatusOptions, TypingState, VoteOptions } from "./content.ts";
import type { HistoryOptions } from "./history.ts";
import type { LoadedMedia } from "./media.ts";
import type { PasskeyMethods } from "./passkey.ts";
import type { ArrivedMessage, MessageFilter, WaitFilter } from "./evidence.ts";

/** Options of a number that can be linked. */
export interface NumberOptions {
  /** Push name of the owner's phone. */
  name?: string;
  /** What the owner's phone runs. Default `'standard'`. */
  edition?: "standard" | "business";
  /** Digits of the account's LID. Default: made from the seed. */
  lid?: string;
  /** What a newly linked companion is told of the time before. Default: nothing. */
  history?: HistoryOptions;
}

/** By which address somebody can be written to. */
export type Reachable = "both" | "number" | "lid";

/** Options of a contact. */
export interface ContactOptions {
  name?: string;
  /** Digits of the LID. Default: made from the seed. */
  lid?: string;
  /** How this contact's direct messages arrive: from its number (with `sender_lid`) or from its LID. Default: see `lidChats`. */
  addressing?: "pn" | "lid";
  /** Phones and companions of the contact. Default 1. */
  devices?: number;
  /**
   * A business that also writes by a device which Meta runs for it (device 99 `@hosted` or `@hosted.lid`; `SendOptions.device`): listed
   * with `is_hosted`, written to in direct chats, and no part of groups. Default false.
   */
  hosted?: boolean;
  /** The contact writes from its LID and the server never tells its number. Implies `addressing: 'lid'`. */
  hidesNumber?: boolean;
  /** The contact is known by this name and its LID; nobody has its number. Implies `hidesNumber`. */
  username?: string;
  /**
   * By which of its addresses others may write to it; by the other one they are refused with 463, as people are who have moved to
   * LIDs. By `number` alone: nobody is told its LID, and it writes from its number. Default `both`, `lid` when the number is hidden.
   */
  reachableBy?: Reachable;
  /** Messages to this contact are refused with 463 unless they carry the privacy token that it has given. Default false. */
  demandsToken?: boolean;
  /** Other forms of the number that the service takes for it when asked who has WhatsApp; no address of its own. */
  otherForms?: PhoneNumber[];
  /** Lets nobody add it to groups: whoever tries gets 403 with what an invite message needs. Default false. */
  refusesGroups?: boolean;
  /** Reads every message at once: a read receipt follows each delivery receipt. Default false. */
  readsMessages?: boolean;
}

/**
 * How others hear that somebody's LID has changed: by the ack of what they write to the old one alone, by `notification type=contacts
 * > modify@old,new,old_lid,new_lid`, or by `notification type=devices@lid > update`.
 */
export type LidChangeNews = "ack" | "contacts" | "devices";

/** A linked device of a number. */
export interface CompanionInfo {
  /** Device number, 1 or higher. */
  device: number;
  /** `number:device@s.whatsapp.net` */
  jid: string;
  online: boolean;
  /** One-time pre-keys left at the server. */
  preKeys: number;
}

/** A contact: somebody with a phone who writes to the linked numbers. */
export interface ContactHandle {
  number: PhoneNumber;
  /** `digits@s.whatsapp.net` */
  jid: string;
  /** `digits@lid` */
  lid: string;
  sendText(to: Address, text: string, options?: SendOptions): Sent;
  send(to: Address, content: Content, options?: SendOptions): Sent;
  votePoll(pollId: string, options: string[], how?: VoteOptions): Sent;
  react(messageId: string, emoji: string): Sent;
  edit(messageId: string, text: string): Sent;
  revoke(messageId: string): Sent;
  mediaOf(messageId: string): Promise<LoadedMedia>;
  markRead(messageIds: string | string[]): Promise<void>;
  markPlayed(messageId: string): Promise<void>;
  typing(to: Address, state?: TypingState): Promise<void>;
  postStatus(content: Content | string, options?: StatusOptions): Sent;
  /** Decrypted messages that arrived at this contact. */
  messages(filter?: MessageFilter): Promise<ArrivedMessage[]>;
  waitForMessage(filter?: WaitFilter, timeoutMs?: number): Promise<ArrivedMessage>;
}

/** An account that can be linked, with its owner's phone. */
export interface NumberHandle {
  number: PhoneNumber;
  jid: string;
  lid: string;
  /**
   * The owner's phone scans a QR text. Resolves when the companion has answered the pairing.
   * Rejects when the reference is unknown or expired.
   */
  scan(qrText: string): Promise<CompanionInfo>;
  /** The phone of another account scans the same QR text: linking by a wrong number. */
  scanAs(otherNumber: PhoneNumber, qrText: string): Promise<CompanionInfo>;
  /** The owner types the eight-character code that the companion shows. A dash is ignored. */
  enterPairingCode(code: string): Promise<CompanionInfo>;
  /** The owner removes a companion on the phone: it gets stream error 401 `device_removed`. */
  logoutCompanion(device: number): Promise<void>;
  /** The owner writes on the phone itself; companions get their own copy. */
  typeAsOwner(to: Address, text: string, options?: SendOptions): Sent;
  sendAsOwner(to: Address, content: Content, options?: SendOptions): Sent;
  votePollAsOwner(pollId: string, options: string[], how?: VoteOptions): Sent;
  reactAsOwner(messageId: string, emoji: string): Sent;
  editAsOwner(messageId: string, text: string): Sent;
  revokeAsOwner(messageId: string): Sent;
  /** The owner reads on the phone: the writers get their receipts, the companions hear of it. */
  markReadAsOwner(messageIds: string | string[]): Promise<void>;
  companions(): Promise<CompanionInfo[]>;
}

/** Making accounts and linking companions. */
export interface AccountMethods extends PasskeyMethods {
  addNumber(number: PhoneNumber, options?: NumberOptions): Promise<NumberHandle>;
  addContact(number: PhoneNumber, options?: ContactOptions): Promise<ContactHandle>;
  /** Adds `count` contacts with the numbers `prefix` + `00001`…; resolves with their numbers. */
  addContacts(count: number, options: { prefix: string } & ContactOptions): Promise<PhoneNumber[]>;
  /** Handles for accounts that exist already. Reject when they do not. */
  number(number: PhoneNumber): Promise<NumberHandle>;
  contact(number: PhoneNumber): Promise<ContactHandle>;
  scan(number: PhoneNumber, qrText: string): Promise<CompanionInfo>;
  enterPairingCode(number: PhoneNumber, code: string): Promise<CompanionInfo>;
  logoutCompanion(number: PhoneNumber, device: number): Promise<void>;
  /** A contact has another LID from now on, made from the seed or given in digits. Resolves with its address. */
  changeLid(contact: PhoneNumber, options?: { lid?: string; told?: LidChangeNews }): Promise<string>;
  /** A contact links another device. Resolves with its number. `told: false`: nobody hears of it by itself. */
  addDevice(contact: PhoneNumber, options?: { told?: boolean }): Promise<number>;
  /**
   * A contact goes on with a new phone: other keys, no companions, nothing of what was there. What waits for the old one comes to it. `told`
   * (default true): everybody who has asked for its devices hears of it (`notification type=encrypt > identity`).
   */
  changePhone(contact: PhoneNumber, options?: { told?: boolean }): Promise<void>;
  /**
   * A contact goes on under another number, with another LID and new keys; nobody has the old ones any more. Whoever has asked for its
   * devices is told of both pairs of addresses (`notification type=contacts > modify`), and members of its groups of the other member
   * (`type=w:gp2 > modify`). Resolves with a handle for the new number. `suggested`: groups that it had suggested to a community, whose
   * members hear whose they are now (`change_number`).
   */
  changeNumber(
    contact: PhoneNumber,
    number: PhoneNumber,
    options?: { suggested?: { community: string; groups: string[] } },
  ): Promise<ContactHandle>;
  /** A contact's devices go offline; what is sent to them waits until `wake`. */
  sleep(contact: PhoneNumber): Promise<void>;
  wake(contact: PhoneNumber): Promise<void>;
  /** A contact gives a number its privacy token, dated so many seconds ago. Phones do so by themselves when they write. */
  giveToken(contact: PhoneNumber, number: PhoneNumber, options?: { secondsAgo?: number }): Promise<void>;
  companions(number: PhoneNumber): Promise<CompanionInfo[]>;
}
