/** What a running simulator tells of what has happened in it. */
import type { Address, PhoneNumber } from "./addresses.ts";
import type { MessageBody } from "./content.ts";
import type { MediaRequest, MediaRequestFilter } from "./media.ts";

/** Whose device a message went to. */
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
  chat: Address;
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
  /** True when the message went out without its content, see `faults.placeholders`. */
  unavailable?: boolean;
}

/** Which entries of the transcript; what is left out matches any. */
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

/** Which of a contact's messages; what is left out matches any. */
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

/** Which of the messages that the service has taken; what is left out matches any. */
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

/** Which arrivals; what is left out matches any. */
export interface ArrivalFilter {
  contact?: PhoneNumber;
  from?: PhoneNumber;
  chat?: string;
  kind?: string;
}

/** What is waited for. */
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

/** Evidence of messages and files: what was taken, where it went, what could be read. */
export interface EvidenceMethods {
  transcript(filter?: TranscriptFilter): Promise<TranscriptEntry[]>;
  messages(contact: PhoneNumber, filter?: MessageFilter): Promise<ArrivedMessage[]>;
  /** Every message that the service has taken, in the order of taking (posts by nobody here: `channelPosts`). */
  accepted(filter?: AcceptedFilter): Promise<AcceptedMessage[]>;
  /** What all contacts have got, in the order of arrival. */
  arrivals(filter?: ArrivalFilter): Promise<Arrival[]>;
  /** Resolves as soon as a matching message has arrived, also when it was there before. Default timeout 30 s. */
  waitForMessage(contact: PhoneNumber, filter?: WaitFilter, timeoutMs?: number): Promise<ArrivedMessage>;
  /** Requests that the media host has seen, oldest first. */
  mediaRequests(filter?: MediaRequestFilter): Promise<MediaRequest[]>;
}
