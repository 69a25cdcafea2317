/** What the owner's phone tells a newly linked companion of the time before. */
import type { Address, PhoneNumber } from "../types.ts";

export interface HistoryMessage {
  text: string;
  /** Written by the owner. Default false: by the partner, or in a group by `from`. */
  fromMe?: boolean;
  from?: PhoneNumber;
  id?: string;
  /** Seconds since 1970. Default: an hour ago and later, in order. */
  timestamp?: number;
}

export interface HistoryChat {
  /** Number, `…@lid` or `…@g.us`. */
  with: Address;
  name?: string;
  unread?: number;
  messages: HistoryMessage[];
}

export interface HistoryOptions {
  /** Pairs of number and LID in the sync: a list, or `'known'` for all accounts there are. Default: none. */
  pairs?: "known" | { number: PhoneNumber; lid: string }[];
  chats?: HistoryChat[];
}
