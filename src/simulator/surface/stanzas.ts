/** What went over the connections, what was wrong with it, and who is connected. */
import type { PhoneNumber } from "./addresses.ts";

/** Which stanzas; what is left out matches any. */
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
  /** Attributes of the direct children, in their order. */
  childAttrs: Record<string, string>[];
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

/** Evidence of the wire: stanzas, breaches of the protocol, connections and queues. */
export interface WireMethods {
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
}
