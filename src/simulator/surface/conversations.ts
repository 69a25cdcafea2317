/** What people write, and what they do with messages. */
import type { Address, PhoneNumber } from "./addresses.ts";
import type { CallOptions, CallState } from "./calls.ts";
import type { Content, SendOptions, Sent, StatusOptions, TypingState, VoteOptions } from "./content.ts";
import type { LoadedMedia } from "./media.ts";

/** Everything that contacts and owners do on their phones. */
export interface ConversationMethods {
  /** The owner of a number writes on the phone itself; companions get their own copy. */
  typeAsOwner(number: PhoneNumber, to: Address, text: string, options?: SendOptions): Sent;
  /** A contact writes a text to a number (digits or jid) or a group. Encrypted now, with bundles fetched as a phone does. */
  sendText(from: PhoneNumber, to: Address, text: string, options?: SendOptions): Sent;
  /** A contact writes anything else: a file, a place, contacts, a poll. Files are stored at the media host. */
  send(from: PhoneNumber, to: Address, content: Content, options?: SendOptions): Sent;
  /** The owner of a number does so on the phone. */
  sendAsOwner(number: PhoneNumber, to: Address, content: Content, options?: SendOptions): Sent;
  /**
   * A person (contact or owner) votes in a poll that arrived at the phone or was written on it; the secret is taken from
   * that message. Each vote replaces the earlier one; `[]` withdraws it.
   * Rejects when the phone knows no such poll, or an option is none of its.
   */
  votePoll(person: PhoneNumber, pollId: string, options: string[], how?: VoteOptions): Sent;
  /** A person adds an option to a poll that may grow, on the phone; it can be voted for from then on. */
  addPollOption(person: PhoneNumber, pollId: string, option: string): Sent;
  /** A person reacts to a message on the phone; `""` takes the reaction back. */
  react(person: PhoneNumber, messageId: string, emoji: string): Sent;
  /** A person edits an own message. */
  edit(person: PhoneNumber, messageId: string, text: string): Sent;
  /** A person deletes an own message for everybody; an admin may delete others' in a group. */
  revoke(person: PhoneNumber, messageId: string): Sent;
  /** The phone of a person loads a message's file, checks MAC and hashes, and decrypts it. What is wrong is a violation and rejects. */
  mediaOf(person: PhoneNumber, messageId: string): Promise<LoadedMedia>;
  /** Messages are read, those of one writer told of together. Whoever has switched read receipts off tells the own devices only. */
  markRead(person: PhoneNumber, messageIds: string | string[]): Promise<void>;
  /** A voice message was listened to. */
  markPlayed(person: PhoneNumber, messageId: string): Promise<void>;
  /** A person is seen writing; the other side's devices get a `chatstate` stanza. Default `composing`. */
  typing(person: PhoneNumber, to: Address, state?: TypingState): Promise<void>;
  /** A person sets after how many seconds messages of a chat with somebody disappear from now on; 0: they stay. */
  setDisappearing(person: PhoneNumber, to: Address, seconds: number): Sent;
  /** A person calls a number, or all members of a group; their companions are told. It rings until one of the next two. */
  call(person: PhoneNumber, to: Address, options?: CallOptions): Sent;
  /** The caller ends a call before anybody has taken it; `timeout`: nobody has. */
  endCall(person: PhoneNumber, to: Address, callId: string, reason?: "timeout"): Promise<void>;
  /** An owner takes a call on the phone, or does not want it. */
  answerCall(owner: PhoneNumber, callId: string, how: "accept" | "reject"): Promise<void>;
  /** How somebody who was called stands to a call. */
  callState(called: PhoneNumber, callId: string): Promise<CallState>;
  /** A contact posts a status, delivered to its audience's phones and companions as from `status@broadcast`. */
  postStatus(contact: PhoneNumber, content: Content | string, options?: StatusOptions): Sent;
}
