/** What the owner's phone tells a newly linked companion of the time before. */
import type { Address, PhoneNumber } from "./addresses.ts";

/** A message of the time before. */
export interface HistoryMessage {
  text: string;
  /** Written by the owner. Default false: by the partner, or in a group by `from`. */
  fromMe?: boolean;
  from?: PhoneNumber;
  id?: string;
  /** Seconds since 1970. Default: an hour ago and later, in order. */
  timestamp?: number;
}

/** A chat of the time before, its oldest message first. */
export interface HistoryChat {
  /** Number, `…@lid` or `…@g.us`. */
  with: Address;
  name?: string;
  unread?: number;
  messages: HistoryMessage[];
}

/** What a newly linked companion is told. */
export interface HistoryOptions {
  /** Pairs of number and LID in the sync: a list, or `'known'` for all accounts there are. Default: none. */
  pairs?: "known" | { number: PhoneNumber; lid: string }[];
  chats?: HistoryChat[];
}
