/** What the owner's phone tells companions of messages that are not sent to them: of the time before they were linked, or on request. */
import type { Address, PhoneNumber } from "./addresses.ts";

/** A message of the time before. */
export interface HistoryMessage {
  text: string;
  /** Bytes of a picture that it shows, which lies at the media host: the text is its caption. */
  image?: Uint8Array;
  /** It was edited since: phones keep such a message as its last edit. */
  edited?: boolean;
  /** Seconds after which it disappears. */
  expiration?: number;
  /** Written by the owner. Default false: by the partner, or in a group by `from`. */
  fromMe?: boolean;
  from?: PhoneNumber;
  id?: string;
  /** Seconds since 1970. Default: an hour ago and later, in order. */
  timestamp?: number;
}

/** A chat of the time before, its oldest message first. The privacy token that the other side has given goes along. */
export interface HistoryChat {
  /** Number, `…@lid` or `…@g.us`. */
  with: Address;
  name?: string;
  unread?: number;
  /** Its messages disappear after so many seconds, since then (Unix seconds). */
  disappearing?: { seconds: number; since: number };
  messages: HistoryMessage[];
}

/** What a newly linked companion is told. */
export interface HistoryOptions {
  /** Pairs of number and LID in the sync: a list, or `'known'` for all accounts there are. Default: none. */
  pairs?: "known" | { number: PhoneNumber; lid: string }[];
  chats?: HistoryChat[];
  /** Told after that, chat by chat, as `RECENT`. */
  recent?: HistoryChat[];
  /** Told only when a companion asks for what came before a message. */
  older?: HistoryChat[];
  /** What people call themselves: a list, or `'known'` for all accounts there are. Default: none. */
  pushNames?: "known" | { number: PhoneNumber; name: string }[];
}

/** What a piece of history is told for. */
export type HistoryType = "first" | "recent" | "full" | "push_names" | "on_demand";

/** History that the phone tells all companions now. */
export interface HistorySending extends Pick<HistoryOptions, "pairs" | "chats" | "pushNames"> {
  type: HistoryType;
  /** In how many messages. Default 1. */
  pieces?: number;
  /** False: each piece is a file at the media host. Default true: it goes along in the message. */
  inline?: boolean;
}

/** Telling history after a companion was linked. */
export interface HistoryMethods {
  sendHistory(number: PhoneNumber, history: HistorySending): Promise<void>;
}
