/**
 * The simulator's public surface. `startSimulator` (library) and `connectSimulator` (HTTP client) both return a
 * {@link Simulator}, so a test or a demo can use either. Every method is asynchronous in both.
 */

import type {
  ChannelChange,
  ChannelInfo,
  ChannelOptions,
  ChannelPost,
  PostFilter,
} from "./surface/channels.ts";
import type { Content, MessageBody, SendOptions, VoteOptions } from "./surface/content.ts";
import type { SimulatorFaults } from "./surface/faults.ts";
import type { HistoryOptions } from "./surface/history.ts";
import type { LoadedMedia, MediaRequest, MediaRequestFilter } from "./surface/media.ts";

export type * from "./surface/channels.ts";
export type * from "./surface/content.ts";
export type * from "./surface/faults.ts";
export type * from "./surface/history.ts";
export type * from "./surface/media.ts";

/** A user's number in digits, with its country code: `"31600000001"`. */
export type PhoneNumber = string;
/** Anything that names a chat partner: digits, `…@s.whatsapp.net`, `…@lid` or `…@g.us`. */
export type Address = string;

export interface SimulatorOptions {
  /** Makes keys, ids and codes repeatable. Default `"parley"`. */
  seed?: string;
  /** Port of the WhatsApp WebSocket on loopback; 0 (default) takes a free one. */
  port?: number;
  /** Port of the HTTP control API on loopback; 0 (default) takes a free one. `false`: no control API. */
  controlPort?: number | false;
  /** How many QR references one registering connection gets. Default 6. */
  qrRefs?: number;
  /** Life of the first QR reference, in milliseconds. Default 60,000, as the real service. */
  qrFirstMs?: number;
  /** Life of each later reference, in milliseconds. Default 20,000. */
  qrNextMs?: number;
  /** Milliseconds since 1970. Default `Date.now`. */
  clock?: () => number;
}

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

export interface ContactOptions {
  name?: string;
  /** Digits of the LID. Default: made from the seed. */
  lid?: string;
  /** How this contact's direct messages arrive: from its number (with `sender_lid`) or from its LID. Default `'pn'`. */
  addressing?: "pn" | "lid";
  /** Phones and companions of the contact. Default 1. */
  devices?: number;
  /** The contact writes from its LID and the server never tells its number. Implies `addressing: 'lid'`. */
  hidesNumber?: boolean;
  /** Other forms of the number that the service takes for it when asked who has WhatsApp; no address of its own. */
  otherForms?: PhoneNumber[];
  /** Reads every message at once: a read receipt follows each delivery receipt. Default false. */
  readsMessages?: boolean;
}

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

export interface GroupInfo {
  /** `…@g.us` */
  id: string;
  subject: string;
  addressing: "lid" | "pn";
  announce: boolean;
  members: { number: PhoneNumber; lid: string; role: "member" | "admin" | "superadmin" }[];
}

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
  sendText(to: Address, text: string, options?: SendOptions): Promise<{ id: string }>;
  send(to: Address, content: Content, options?: SendOptions): Promise<{ id: string }>;
  votePoll(pollId: string, options: string[], how?: VoteOptions): Promise<{ id: string }>;
  react(messageId: string, emoji: string): Promise<{ id: string }>;
  edit(messageId: string, text: string): Promise<{ id: string }>;
  revoke(messageId: string): Promise<{ id: string }>;
  mediaOf(messageId: string): Promise<LoadedMedia>;
  markRead(messageId: string): Promise<void>;
  markPlayed(messageId: string): Promise<void>;
  typing(to: Address, state?: TypingState): Promise<void>;
  postStatus(content: Content | string, options?: StatusOptions): Promise<{ id: string }>;
  /** Decrypted messages that arrived at this contact, see {@link Simulator.messages}. */
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
  typeAsOwner(to: Address, text: string, options?: SendOptions): Promise<{ id: string }>;
  sendAsOwner(to: Address, content: Content, options?: SendOptions): Promise<{ id: string }>;
  votePollAsOwner(pollId: string, options: string[], how?: VoteOptions): Promise<{ id: string }>;
  reactAsOwner(messageId: string, emoji: string): Promise<{ id: string }>;
  editAsOwner(messageId: string, text: string): Promise<{ id: string }>;
  revokeAsOwner(messageId: string): Promise<{ id: string }>;
  companions(): Promise<CompanionInfo[]>;
}

/** What is shown of somebody who writes. */
export type TypingState = "composing" | "recording" | "paused";

export interface StatusOptions {
  id?: string;
  /** Who sees it. Default: every linked number. */
  audience?: PhoneNumber[];
}

export type TranscriptDirection = "to_contact" | "to_companion" | "to_owner_phone";

/** One encrypted message at one device: who got what, and could it be read. */
export interface TranscriptEntry extends MessageBody {
  seq: number;
  /** Milliseconds, simulator clock. */
  at: number;
  direction: TranscriptDirection;
  /** Digits of the sender's number. */
  from: PhoneNumber;
  fromDevice: number;
  /** Digits of the receiving account's number. */
  to: PhoneNumber;
  /** Receiving device number; 0 is the phone. */
  device: number;
  /** The chat as the receiver sees it: digits of the partner's number, or `…@g.us`. */
  chat: string;
  id: string;
  encType: "msg" | "pkmsg" | "skmsg";
  decrypted: boolean;
  /** How many times this device asked for the message again. */
  tries: number;
  error?: string;
  /** 1 for the first message with this id at this device, 2 for the second… */
  ordinal: number;
  /** True when the stanza carried an `offline` attribute. */
  offline?: boolean;
  /** True when the message went out without its content, see {@link SimulatorFaults.placeholders}. */
  unavailable?: boolean;
}

export interface TranscriptFilter {
  /** Number of a contact, as sender or receiver. */
  contact?: PhoneNumber;
  /** Number of a linked account, as sender or receiver. */
  number?: PhoneNumber;
  chat?: string;
  id?: string;
  direction?: TranscriptDirection;
  /** Only entries with a higher `seq`. */
  since?: number;
}

/** A decrypted message at a contact's phone. */
export interface ArrivedMessage extends MessageBody {
  seq: number;
  at: number;
  id: string;
  from: PhoneNumber;
  chat: string;
  encType: "msg" | "pkmsg" | "skmsg";
  ordinal: number;
  /** The phone had a message with this id from this sender, and dropped this one. */
  repeated: boolean;
}

export interface MessageFilter {
  from?: PhoneNumber;
  chat?: string;
  id?: string;
  /** Those that the phone dropped because it had them as well. Default: only what it shows. */
  repeated?: boolean;
}

/** A message that the service took from somebody, contact or companion; what is about an account alone is not among them. */
export interface AcceptedMessage extends MessageBody {
  seq: number;
  /** When it was taken first, in milliseconds of the simulator's clock. */
  at: number;
  id: string;
  from: PhoneNumber;
  /** The device that wrote it; 0 is the phone. */
  fromDevice: number;
  /** Digits of the partner's number, or the group's, channel's or status address. */
  chat: string;
  /** How often it was sent to the whole chat with this id. */
  times: number;
}

export interface AcceptedFilter {
  from?: PhoneNumber;
  /** `contact`: only what contacts wrote; `owner`: what owners wrote on the phone, and their companions. */
  by?: "contact" | "owner";
  chat?: string;
  id?: string;
  kind?: string;
}

/** A message at a contact's phone, once however often it came. */
export interface Arrival extends ArrivedMessage {
  contact: PhoneNumber;
  /** How often it came and could be read. */
  times: number;
  /** Its place, from 1, among the messages of its chat at this contact. */
  place: number;
}

export interface ArrivalFilter {
  contact?: PhoneNumber;
  from?: PhoneNumber;
  chat?: string;
  kind?: string;
}

export interface WaitFilter extends MessageFilter {
  text?: string;
  kind?: string;
  /** Id of the message that a reaction, edit, revoke or vote is about. */
  target?: string;
  /** Wait until so many messages match; resolves with the last. Default 1. */
  count?: number;
  /** Only messages with a higher `seq`. */
  since?: number;
}

export interface StanzaFilter {
  /** Number of the account whose device sent or got the stanza; its phone is device 0, so give `device: 1` for a companion. */
  number?: PhoneNumber;
  /** The same for a contact. */
  contact?: PhoneNumber;
  device?: number;
  tag?: string;
  /** `'in'`: to the server; `'out'`: from the server. */
  direction?: "in" | "out";
  /** The `type` attribute. */
  type?: string;
  xmlns?: string;
  id?: string;
  /** A child's tag, for example `"key"` for `<iq xmlns=encrypt><key>`. */
  child?: string;
  /** An encryption type found anywhere in the stanza. */
  enc?: "msg" | "pkmsg" | "skmsg";
  since?: number;
}

/** One stanza as it went over a connection; the content of `enc` is left out. */
export interface StanzaEntry {
  seq: number;
  at: number;
  direction: "in" | "out";
  number: PhoneNumber;
  device: number;
  tag: string;
  attrs: Record<string, string>;
  /** Tags of the direct children. */
  children: string[];
  /** Types of every `enc` below, in order. */
  enc: string[];
}

/** Something that the real server or a real phone would refuse. */
export interface Violation {
  seq: number;
  at: number;
  rule: string;
  /** `number:device` */
  who: string;
  detail: string;
}

export type FaultName = keyof SimulatorFaults;

export interface Simulator {
  readonly wsUrl: string;
  /** Public key of the root that signs the Noise certificates: 64 hexadecimal characters. */
  readonly noiseRoot: string;
  readonly controlUrl: string;
  /** `https://127.0.0.1:<port>` of the media host. */
  readonly mediaUrl: string;
  /** PEM certificate of the authority that signed the media host's certificate. */
  readonly ca: string;
  /** The same in a file, for `NODE_EXTRA_CA_CERTS` and the like; removed by `stop`. */
  readonly caFile: string;
  readonly faults: SimulatorFaults;

  addNumber(number: PhoneNumber, options?: NumberOptions): Promise<NumberHandle>;
  addContact(number: PhoneNumber, options?: ContactOptions): Promise<ContactHandle>;
  /** Adds `count` contacts with the numbers `prefix` + `00001`…; resolves with their numbers. */
  addContacts(count: number, options: { prefix: string } & ContactOptions): Promise<PhoneNumber[]>;
  addGroup(options: GroupOptions): Promise<GroupInfo>;
  changeGroup(id: string, change: GroupChange): Promise<GroupInfo>;
  group(id: string): Promise<GroupInfo>;

  /** Handles for accounts that exist already. Reject when they do not. */
  number(number: PhoneNumber): Promise<NumberHandle>;
  contact(number: PhoneNumber): Promise<ContactHandle>;

  scan(number: PhoneNumber, qrText: string): Promise<CompanionInfo>;
  enterPairingCode(number: PhoneNumber, code: string): Promise<CompanionInfo>;
  logoutCompanion(number: PhoneNumber, device: number): Promise<void>;
  typeAsOwner(number: PhoneNumber, to: Address, text: string, options?: SendOptions): Promise<{ id: string }>;
  companions(number: PhoneNumber): Promise<CompanionInfo[]>;

  /** A contact writes a text to a number (digits or jid) or a group. Encrypted now, with bundles fetched as a phone does. */
  sendText(from: PhoneNumber, to: Address, text: string, options?: SendOptions): Promise<{ id: string }>;

  /** A contact writes anything else: a file, a place, contacts, a poll. Files are stored at the media host. */
  send(from: PhoneNumber, to: Address, content: Content, options?: SendOptions): Promise<{ id: string }>;
  /** The owner of a number does so on the phone. */
  sendAsOwner(
    number: PhoneNumber,
    to: Address,
    content: Content,
    options?: SendOptions,
  ): Promise<{ id: string }>;
  /**
   * A person (contact or owner) votes in a poll that arrived at the phone or was written on it; the secret is taken from
   * that message. Each vote replaces the earlier one; `[]` withdraws it.
   * Rejects when the phone knows no such poll, or an option is none of its.
   */
  votePoll(
    person: PhoneNumber,
    pollId: string,
    options: string[],
    how?: VoteOptions,
  ): Promise<{ id: string }>;
  /** A person reacts to a message on the phone; `""` takes the reaction back. */
  react(person: PhoneNumber, messageId: string, emoji: string): Promise<{ id: string }>;
  /** A person edits an own message. */
  edit(person: PhoneNumber, messageId: string, text: string): Promise<{ id: string }>;
  /** A person deletes an own message for everybody; an admin may delete others' in a group. */
  revoke(person: PhoneNumber, messageId: string): Promise<{ id: string }>;
  /** The phone of a person loads a message's file, checks MAC and hashes, and decrypts it. What is wrong is a violation and rejects. */
  mediaOf(person: PhoneNumber, messageId: string): Promise<LoadedMedia>;
  markRead(person: PhoneNumber, messageId: string): Promise<void>;
  /** A voice message was listened to. */
  markPlayed(person: PhoneNumber, messageId: string): Promise<void>;
  /** A person is seen writing; the other side's devices get a `chatstate` stanza. Default `composing`. */
  typing(person: PhoneNumber, to: Address, state?: TypingState): Promise<void>;
  /** A contact posts a status, delivered to its audience's phones and companions as from `status@broadcast`. */
  postStatus(
    contact: PhoneNumber,
    content: Content | string,
    options?: StatusOptions,
  ): Promise<{ id: string }>;

  addChannel(options: ChannelOptions): Promise<ChannelInfo>;
  changeChannel(id: string, change: ChannelChange): Promise<ChannelInfo>;
  channel(id: string): Promise<ChannelInfo>;
  /** A post by an admin (default: one that is no account here). Files are stored unencrypted, as in real channels. */
  postInChannel(
    id: string,
    content: Content | string,
    options?: { by?: PhoneNumber; id?: string; timestamp?: number },
  ): Promise<{ id: string; serverId: number }>;
  /** What stands in a channel, oldest first. */
  channelPosts(id: string, filter?: PostFilter): Promise<ChannelPost[]>;
  /** Resolves as soon as a matching post is there. Default timeout 10 s. */
  waitForPost(id: string, filter?: PostFilter, timeoutMs?: number): Promise<ChannelPost>;

  /** Requests that the media host has seen, oldest first. */
  mediaRequests(filter?: MediaRequestFilter): Promise<MediaRequest[]>;

  transcript(filter?: TranscriptFilter): Promise<TranscriptEntry[]>;
  messages(contact: PhoneNumber, filter?: MessageFilter): Promise<ArrivedMessage[]>;
  /** Every message that the service has taken, in the order of taking (posts by nobody here: {@link Simulator.channelPosts}). */
  accepted(filter?: AcceptedFilter): Promise<AcceptedMessage[]>;
  /** What all contacts have got, in the order of arrival. */
  arrivals(filter?: ArrivalFilter): Promise<Arrival[]>;
  /** Resolves as soon as a matching message has arrived, also when it was there before. Default timeout 10 s. */
  waitForMessage(contact: PhoneNumber, filter?: WaitFilter, timeoutMs?: number): Promise<ArrivedMessage>;
  /** The newest stanzas that match (a ring buffer of 20,000). */
  stanzas(filter?: StanzaFilter): Promise<StanzaEntry[]>;
  countStanzas(filter?: StanzaFilter): Promise<number>;

  violations(): Promise<Violation[]>;
  /** Takes the recorded violations of one rule out, for tests that provoke it. Rejects when there is none. */
  expectViolation(rule: string, options?: { timeoutMs?: number }): Promise<Violation[]>;
  /** Waits until online devices have acknowledged everything; what then remains becomes `missing_ack` violations. */
  settle(timeoutMs?: number): Promise<void>;

  /** Is any companion (or the given one) of this number connected and logged in? */
  online(number: PhoneNumber, device?: number): Promise<boolean>;
  waitOnline(number: PhoneNumber, timeoutMs?: number): Promise<void>;
  /** Stanzas that wait for this number's companions, sent or not, without acknowledgement. */
  pending(number: PhoneNumber, device?: number): Promise<number>;

  stop(): Promise<void>;
}

/** What the program prints as one line of JSON when it is ready. */
export interface ReadyLine {
  wsUrl: string;
  controlUrl: string;
  noiseRoot: string;
  mediaUrl: string;
  ca: string;
  caFile: string;
}
