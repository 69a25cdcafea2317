/** Simulated people, as the service drives them. */
import type { Advertisement, Content, TypingState, VoteOptions } from "../surface/content.ts";
import type { AppStateEntry, AppStateWriting, CollectionName } from "../surface/app-state.ts";
import type { HistoryMessage, HistorySending } from "../surface/history.ts";
import type { LoadedMedia } from "../surface/media.ts";
import type { PresenceState } from "../surface/profiles.ts";
import type { AddressedChange } from "./app-state/changes.ts";

/** What makes a person: a contact, or the owner of a number that can be linked. */
export interface PersonOptions {
  /** Phone number, digits. */
  number: string;
  /** LID, digits. */
  lid: string;
  /** Push name, sent as `notify`. Default: the number. */
  name?: string;
  /** Number of devices, phone included. Default 1. They are devices 0, 1, 2 … of the account. */
  devices?: number;
  /** It has a device beside them that Meta runs for the business (device 99). */
  hosted?: boolean;
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

/** What a phone says about a call. */
export interface CallStep {
  tag: "offer" | "accept" | "reject" | "terminate";
  /** Of the call. */
  id: string;
  /** Who has made it, as this phone was told. Default: itself. */
  creator?: string;
  video?: boolean;
  reason?: string;
}

/** What a person may say of messages; `-self`: to the own devices only. */
export type MarkType = "read" | "read-self" | "played" | "played-self";

/** Options of anything that a simulated person sends. */
export interface SendOptions {
  /** Message id; made from the random stream by default. */
  id?: string;
  /** Sending device, default 0. */
  device?: number;
}

/** Options of a text that a simulated person sends. */
interface SendTextOptions extends SendOptions {
  /** Who is mentioned: digits or addresses. They are written the way the chat names its members. */
  mentions?: string[];
  /** Seconds after which the message disappears. */
  expiration?: number;
  advertisement?: Advertisement;
  /** Id of the message that has announced the album which this one belongs to. */
  album?: string;
  /** An earlier message; `participant` is its author, by default the other side of the chat. */
  quoted?: { id: string; participant?: string; text?: string };
}

/**
 * A simulated person, made by `createPerson`. Making one costs a few hundred bytes and no key material.
 */
export interface SimulatedPerson {
  readonly number: string;
  readonly lid: string;
  readonly name: string;
  /**
   * Attaches every device and uploads its pre-keys, once; later calls give the same promise. The server calls it before
   * it answers a key query for, or delivers to, a person who was never online. Sending wakes the devices by itself.
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
  /** Sends anything else, in the same way as {@link SimulatedPerson.sendText}. Files must come with their bytes. */
  sendContent(to: string, content: Content, options?: SendTextOptions): Promise<{ id: string }>;
  /** Takes another name, from the next connection on. */
  rename(name: string): Promise<void>;
  /** Opens or closes the app on the phone. */
  presence(state: PresenceState): Promise<void>;
  /** Is the message on this person's phone? */
  knows(id: string): boolean;
  /** The next five are about a message that is on this person's phone. @throws when it is not */
  react(id: string, emoji: string): Promise<{ id: string }>;
  edit(id: string, text: string): Promise<{ id: string }>;
  revoke(id: string): Promise<{ id: string }>;
  addPollOption(id: string, option: string): Promise<{ id: string }>;
  votePoll(id: string, options: string[], how?: VoteOptions): Promise<{ id: string }>;
  mediaOf(id: string): Promise<LoadedMedia>;
  /** Says of messages that this person's phone received that they were read or played. */
  mark(ids: string[], type: MarkType): Promise<void>;
  typing(to: string, state: TypingState): Promise<void>;
  /** Sets after how many seconds messages of a chat with somebody disappear from now on; 0: they stay. */
  setDisappearing(to: string, seconds: number, id: string): Promise<void>;
  /** Calls somebody, ends that call, or answers one. */
  call(to: string, step: CallStep): Promise<void>;
  /** Posts a status for some people, given by their addresses. */
  postStatus(content: Content, audience: string[], options?: SendOptions): Promise<{ id: string }>;
  /**
   * Sends an earlier message again under the same id, freshly encrypted: to one device as after a retry receipt (`enc` with
   * `count`), or without `to` to everybody it was sent to. @throws when the message is not remembered, or there is no session
   */
  resend(id: string, one?: { to: string; count: number }): Promise<void>;
  /** Resolves when all that was received or asked for so far has been handled by every device. */
  settle(): Promise<void>;
  /** Links one more device, of the given number, and brings it online. */
  addDevice(device: number): Promise<number>;
  /** The person has a new phone and nothing else; it is offline. */
  startAnew(): void;
  /** The person has another LID from now on. */
  moveLid(lid: string): void;
  /** Takes every device offline. `wake()` brings them back with the same keys and sessions. */
  sleep(): void;
}

/**
 * The owner of a number, made by `createOwner`: a person with one phone, which links companions. `sendText` is "the owner
 * types on the phone".
 */
export interface SimulatedOwner extends SimulatedPerson {
  /** Signs the device identity for the companion that shows this QR text. Rejects with the server's error code. */
  scan(qrText: string): Promise<{ device: number }>;
  /** Types the eight-character code; resolves when the companion is linked. Rejects for a wrong code. */
  enterPairingCode(code: string): Promise<{ device: number }>;
  /** The code that the phone shows while a companion proves itself, see `PasskeyMethods.passkeyCode`. */
  passkeyCode(timeoutMs?: number): Promise<{ code: string; mustCompare: boolean }>;
  /** What the phone does when a companion asks for this message, which reached it without content. Default: it sends it. */
  answerPlaceholder(id: string, how: PlaceholderAnswer): void;
  /** Writes app state, as what the owner does on the phone; resolves with the versions of the collections. */
  changeAppState(
    changes: readonly AddressedChange[],
    writing: AppStateWriting,
  ): Promise<Partial<Record<CollectionName, number>>>;
  appState(): Promise<AppStateEntry[]>;
  shareAppStateKeys(): Promise<void>;
  /** Tells every companion of messages of some time before. */
  sendHistory(history: KnownHistory & Pick<HistorySending, "type" | "pieces" | "inline">): Promise<void>;
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
  /** Told after the first piece. */
  recent?: KnownChat[];
  /** Told when somebody asks for it. */
  older?: KnownChat[];
  pushNames?: { jid: string; name: string }[];
}

/** A chat of the time before. */
export interface KnownChat {
  jid: string;
  /** The other address of the person, in a direct chat. */
  pnJid?: string;
  lidJid?: string;
  name?: string;
  unread?: number;
  /** After how long messages disappear, and since when; Unix seconds. */
  disappearing?: { seconds: number; since: number };
  /** The privacy token that the other side has given. */
  token?: { token: Uint8Array; t: number };
  /** Oldest first. */
  messages: KnownMessage[];
}

/** A message of the time before. */
export interface KnownMessage extends Pick<HistoryMessage, "text" | "image" | "edited" | "expiration"> {
  id: string;
  fromMe: boolean;
  /** Who wrote it in a group, and what he calls himself. */
  participant?: string;
  name?: string;
  /** Unix seconds. */
  timestamp: number;
}
