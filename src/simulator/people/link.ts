/**
 * The seam between the simulated people and the simulated server.
 *
 * A simulated phone is a client at node level: it speaks the same stanzas as a companion device, only without
 * Noise and the binary codec. The server gives it a {@link Link}; everything else that a person needs (clock, random
 * bytes, the record of what happened) is handed in through {@link PhoneWorld}. People import nothing of the server.
 *
 * What the people side sends, beyond what companions send (`<message>`, `<receipt>`, `<ack>`, `usync`, `encrypt`, `w:g2`):
 * - Linking by QR text: `iq set md > pair-device {ref, pub-key (noise public key from the QR), device-identity
 *   (ADVSignedDeviceIdentityHMAC)}`. The server turns it into `pair-success` for the companion that was shown that ref
 *   and answers `iq result > device@jid,lid`, or `iq error 404` for an unknown or used-up ref.
 * - Linking by code: the server passes the companion's `companion_hello` and `companion_finish` on as
 *   `notification type=link_code_companion_reg > link_code_companion_reg@stage{…, link_code_pairing_ref}`; the phone
 *   answers the first with `iq set md > link_code_companion_reg@stage=primary_hello
 *   {link_code_pairing_wrapped_primary_ephemeral_pub, primary_identity_pub, link_code_pairing_ref}` (the server
 *   forwards those three as a notification to the companion), and the second with the same `pair-device` as above,
 *   its `ref` being the `link_code_pairing_ref` and its `pub-key` the `companion_server_auth_key_pub`.
 * - Removing a companion: `iq set md > remove-companion-device@jid,reason=user_initiated`.
 * - Peer messages to one own companion: `<message to=user:device@s.whatsapp.net category=peer type=text
 *   push_priority=high><enc/></message>`, without `participants`.
 * - The answer to a companion that asks for a file once more (`receipt type=server-error` of the companion, passed on to
 *   the phone): `iq set w:m > mediaretry@to,id{rmr, encrypt{enc_p, enc_iv} | error@code}`, which the server turns into
 *   `notification type=mediaretry` for that companion.
 * - Typing: `<chatstate to><composing|paused media?/></chatstate>`.
 * - A resend after a retry receipt: `<message id to=<device jid> device_fanout=false [recipient]><enc count/></message>`,
 *   in a group `<message id to=<group> participant=<device jid>><enc count/></message>`.
 *
 * What it expects to be pushed: `message`, `receipt`, `ack class=message`, `notification` of type `encrypt` (count),
 * `devices` (`add|remove > device@jid`, to the own phone once a new companion has logged in and uploaded its keys),
 * `w:gp2`, `link_code_companion_reg`. Each is acknowledged as a phone does.
 */
import type { BinaryNode } from "@whiskeysockets/baileys";
import type { Random } from "../random.ts";
import type { Content, LoadedMedia, MessageBody, TypingState, VoteOptions } from "../types.ts";

/** One device's connection to the server, at node level. */
export interface Link {
  /** Sends a stanza that needs no answer, or whose answer arrives through `onNode` (an `ack`). */
  send(node: BinaryNode): void;
  /**
   * Sends an IQ and gives its answer. The link fills in a missing `id`. An answer of `type=error` is returned, not
   * thrown; the promise rejects only when the link is closed.
   */
  query(iq: BinaryNode): Promise<BinaryNode>;
  /** Registers the one receiver of pushed stanzas; what is queued for the device is delivered after this call. */
  onNode(receive: (node: BinaryNode) => void): void;
  /** Disconnects; stanzas for the device wait at the server until it attaches again. */
  close(): void;
}

/** Who attaches. `user` is the phone number, `lid` the LID's digits, `device` 0 for the phone itself. */
export interface DeviceAddress {
  user: string;
  lid: string;
  device: number;
}

/** A message that a simulated device has decrypted. */
export interface DecryptedEvent extends MessageBody {
  at: number;
  /** The device it arrived at. */
  device: DeviceAddress;
  /** Author as the stanza gave it (device jid) and, when known, the author's number. */
  from: string;
  fromNumber?: string;
  /** Group jid, or the other side's user jid (for an own device's copy: the chat it was written in). */
  chat: string;
  id: string;
  /** Server timestamp in Unix seconds. */
  timestamp: number;
  encType: "msg" | "pkmsg" | "skmsg";
  /** 1 at the first try; 1 + number of retry receipts when it took resends. */
  tries: number;
  /** True for a copy of what another device of the same user sent. */
  ownCopy: boolean;
  /** True when this id from this author was decrypted before: a phone would show it once. */
  repeated: boolean;
  /** Decoded `proto.Message` without padding and without the `deviceSentMessage` wrapper. */
  message: import("@whiskeysockets/baileys").proto.IMessage;
  /** The stanza's attributes as delivered. */
  attrs: Record<string, string>;
}

/**
 * A message that could not be decrypted; a retry receipt has been sent unless `gaveUp`. The phone reports no violation of
 * its own for it: whether it is one, the recorder decides.
 */
export interface UndecryptableEvent {
  at: number;
  device: DeviceAddress;
  from: string;
  fromNumber?: string;
  chat: string;
  id: string;
  encType: string;
  /** Retry receipts sent for this id so far, this one included. */
  tries: number;
  /** A {@link SignalError} reason, or `bad_padding`, `bad_protobuf`, `no_enc`. */
  reason: string;
  gaveUp: boolean;
}

/** A message that a simulated person has sent. */
export interface SentEvent extends MessageBody {
  at: number;
  device: DeviceAddress;
  to: string;
  id: string;
  /** One entry per device that got an `enc` of its own; a group adds one entry with `to` = the group and `skmsg`. */
  encs: { to: string; type: "msg" | "pkmsg" | "skmsg" }[];
  /** Set when this was a resend for one device. */
  resendOf?: number;
}

/** The server's verdict on a message sent by a simulated person. */
export interface AckEvent {
  at: number;
  device: DeviceAddress;
  to: string;
  id: string;
  error?: string;
}

/** Something that the real service or a real phone would refuse. */
export interface PhoneViolation {
  rule: string;
  who: string;
  detail: string;
}

/** Everything that is recorded about people; the server side implements it. Callbacks must not throw. */
export interface PhoneRecorder {
  onDecrypted(event: DecryptedEvent): void;
  onUndecryptable(event: UndecryptableEvent): void;
  onSent(event: SentEvent): void;
  onAck(event: AckEvent): void;
  onReceipt(event: { at: number; device: DeviceAddress; attrs: Record<string, string>; ids: string[] }): void;
  onViolation(violation: PhoneViolation): void;
}

/** The media host as phones use it. */
export interface FileHost {
  store(type: string, bytes: Uint8Array): { url: string; directPath: string };
  /** @throws when there is no such file (any more) */
  load(directPath: string): Uint8Array;
  /**
   * What a phone loaded when the message arrived, to store it again: phones keep their files. `not_found`: it was
   * deleted there. `silent`: the phone does not answer.
   */
  recall(directPath: string): Uint8Array | "not_found" | "silent";
}

/** Milliseconds since the Unix epoch. */
export interface Clock {
  now(): number;
}

/** What is shared by all simulated people of one simulator. */
export interface PhoneWorld {
  clock: Clock;
  /** The simulator's root stream; a person forks it by number, a device by its index. */
  random: Random;
  recorder: PhoneRecorder;
  files: FileHost;
  /** Connects one device; called when the device wakes, not when the person is made. */
  attach(address: DeviceAddress): Link;
}

/** What makes a person: a contact, or the owner of a number that Parley runs. */
export interface PersonOptions {
  /** Phone number, digits. */
  number: string;
  /** LID, digits. */
  lid: string;
  /** Push name, sent as `notify`. Default: the number. */
  name?: string;
  /** Number of devices, phone included. Default 1. They are devices 0, 1, 2 … of the account. */
  devices?: number;
  /**
   * How this person's direct messages are addressed, default `pn`. With `lid` the phone asks for the other side's LID
   * (usync) and sends `to` it; the server gives `from` in the addressing of `to`. Whether `sender_pn` is shown
   * (a hidden number) is the server's business.
   */
  addressing?: "pn" | "lid";
  /** The number is not shown to others: they know the LID only. Default false. */
  hidesNumber?: boolean;
  /** Read receipts are sent after the delivery receipt. Default false. */
  readsMessages?: boolean;
}

/** Options of anything that a simulated person sends. */
export interface SendOptions {
  /** Message id; made from the random stream by default. */
  id?: string;
  /** Sending device, default 0. */
  device?: number;
}

/** Options of a text that a simulated person sends. */
export interface SendTextOptions extends SendOptions {
  /** The mentioned: digits, or addresses. They are written as the chat names its members. */
  mentions?: string[];
  /** An earlier message; `participant` is its author, by default the other side of the chat. */
  quoted?: { id: string; participant?: string; text?: string };
}

/**
 * A simulated person. `class Person implements SimulatedPerson` in `person.ts`:
 * `new Person(world: PhoneWorld, options: PersonOptions)`. Making one costs a few hundred bytes and no key material.
 */
export interface SimulatedPerson {
  readonly number: string;
  readonly lid: string;
  readonly name: string;
  /**
   * Attaches every device and uploads its pre-keys, once; later calls give the same promise. The server calls it before
   * it answers a key query for, or delivers to, a person that never came online. Sending wakes by itself.
   */
  wake(): Promise<void>;
  readonly awake: boolean;
  /**
   * Sends a text and resolves once the message stanza is on its link (not at the ack).
   *
   * @param to  digits (a number), or a user or group jid
   * @throws when the other side is unknown, has no devices, or gives no key bundle
   */
  sendText(to: string, text: string, options?: SendTextOptions): Promise<{ id: string }>;
  /** Sends anything else, otherwise as {@link SimulatedPerson.sendText}. Files must have their bytes. */
  sendContent(to: string, content: Content, options?: SendTextOptions): Promise<{ id: string }>;
  /** Is the message on this person's phone? */
  knows(id: string): boolean;
  /** The next five are about a message that is on this person's phone. @throws when it is not */
  react(id: string, emoji: string): Promise<{ id: string }>;
  edit(id: string, text: string): Promise<{ id: string }>;
  revoke(id: string): Promise<{ id: string }>;
  votePoll(id: string, options: string[], how?: VoteOptions): Promise<{ id: string }>;
  mediaOf(id: string): Promise<LoadedMedia>;
  /** Sends a read receipt for a message that this person's phone received. */
  markRead(id: string): Promise<void>;
  markPlayed(id: string): Promise<void>;
  typing(to: string, state: TypingState): Promise<void>;
  /** Posts a status for some people, given by their addresses. */
  postStatus(content: Content, audience: string[], options?: SendOptions): Promise<{ id: string }>;
  /**
   * Sends an earlier message once more, encrypted anew, with its id: to one device as after a retry receipt (`enc` with
   * `count`), or without `to` to everybody it was sent to. @throws when the message is not remembered, or there is no session
   */
  resend(id: string, one?: { to: string; count: number }): Promise<void>;
  /** Resolves when all that was received or asked for so far has been handled by every device. */
  settle(): Promise<void>;
  /** Takes every device offline. `wake()` brings them back with the same keys and sessions. */
  sleep(): void;
}

/**
 * The owner's own phone. `class OwnerPhone extends Person implements SimulatedOwner` in `owner-phone.ts`:
 * `new OwnerPhone(world: PhoneWorld, options: OwnerOptions)`. `sendText` is "the owner types on the phone".
 */
export interface SimulatedOwner extends SimulatedPerson {
  /** Signs the device identity for the companion that shows this QR text. Rejects with the server's error code. */
  scan(qrText: string): Promise<{ device: number }>;
  /** Types the eight-character code; resolves when the companion is linked. Rejects for a wrong code. */
  enterPairingCode(code: string): Promise<{ device: number }>;
  /** What the phone does when a companion asks for this message, which reached it without content. Default: it sends it. */
  answerPlaceholder(id: string, how: PlaceholderAnswer): void;
  /** "Log out" of one linked device, done on the phone. */
  removeCompanion(device: number): Promise<void>;
}

/** The phone sends the message, says that it has none, or keeps silent. */
export type PlaceholderAnswer = "answers" | "not_found" | "silent";

/** Options of an owner's phone. */
export interface OwnerOptions extends PersonOptions {
  /** What a newly linked companion is told of the time before. Default: nothing. */
  history?: () => KnownHistory;
}

/** What a phone knows of the time before a companion was linked. */
export interface KnownHistory {
  pairs: { number: string; lid: string }[];
  chats: KnownChat[];
}

export interface KnownChat {
  jid: string;
  /** The other address of the person, in a direct chat. */
  pnJid?: string;
  lidJid?: string;
  name?: string;
  unread?: number;
  /** Oldest first; timestamps in Unix seconds. */
  messages: { id: string; fromMe: boolean; participant?: string; text: string; timestamp: number }[];
}
