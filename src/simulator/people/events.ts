/** What simulated phones tell of what happens to them. */
import type { proto } from "@whiskeysockets/baileys";
import type { MessageBody } from "../surface/content.ts";
import type { DeviceAddress } from "./address.ts";

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
  message: proto.IMessage;
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
interface AckEvent {
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
