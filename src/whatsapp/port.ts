import type { Statement } from "../model/statement.ts";
import type { Draft } from "../model/content/drafts.ts";
import type { ErrorCode } from "../model/errors/errors.ts";
import type { Incoming, MediaKind } from "../model/messages.ts";
import type { PasskeyAssertion, PasskeyStep } from "../model/passkey.ts";
import type { Intake } from "../store/write/intake.ts";
import type { ChatSettings, LastMessage } from "./port/chats.ts";
import type { ContactDetails } from "./port/contacts.ts";
import type { AcknowledgedEvent, ConnectionEvent, LinkedIdentity } from "./port/events.ts";
import type { GroupAdmin } from "./port/group-admin.ts";
import type { GroupInfo, ChannelInfo } from "./port/groups.ts";
import type { ProfileLine } from "./port/profile.ts";

export * from "./port/chats.ts";
export * from "./port/contacts.ts";
export * from "./port/errors.ts";
export * from "./port/events.ts";
export * from "./port/groups.ts";
export * from "./port/happenings.ts";
export * from "./port/told.ts";

/**
 * All that Parley may ask of WhatsApp, and all that it is told. This folder is the only implementation and `baileys.ts` the
 * only importer of Baileys; nothing above this folder sees a protobuf, a node or a socket.
 */

/** WhatsApp, for every number of this process. */
export interface WhatsApp {
  /**
   * Opens a connection with the stored credentials; without any, with new ones that wait for a QR or a code to be used.
   * Hands on first what an earlier connection has received and not stored. Resolves before the number is online: see
   * `ConnectionEvent`. One connection per number at a time.
   *
   * @throws when the credentials cannot be read
   */
  connect(deviceId: number, listener: ConnectionListener): Promise<WhatsAppConnection>;
  /** Who the stored credentials belong to; null when the number is not linked. */
  identity(deviceId: number): Promise<LinkedIdentity | null>;
  /** Those of them with stored credentials. */
  linkedDevices(deviceIds: readonly number[]): Promise<number[]>;
  /** Deletes credentials, keys and journal of a number whose connection is closed. LID pairs stay true and stay. */
  erase(deviceId: number): Promise<void>;
  /**
   * Another process has these numbers from now on: whatever is still under way for them writes nothing more, and everything
   * that is remembered of them is forgotten, so that they begin with the rows should they come back.
   */
  leave(deviceIds: readonly number[]): void;
  /** An edit that came before its message, with the text that it has since that is there; as it is while it does not open. */
  readAgain(deviceId: number, edit: Incoming): Promise<Incoming>;
  /** What is known of the file of an incoming message (`raw`); null when it has none. */
  mediaSource(raw: string): MediaSource | null;
  /**
   * Loads a file from WhatsApp's hosts, as it lies there: encrypted, unless it was posted in a channel.
   *
   * @throws {OutboundError} `status` 403, 404 or 410: it is not there any more
   */
  downloadMedia<T>(request: MediaRequest, read: (chunks: AsyncIterable<Buffer>) => Promise<T>): Promise<T>;
  /** The client version that connections name to WhatsApp, and whether it was refused. */
  clientVersion(): { version: string; refused: boolean };
  /** Ends background work; connections are closed by their owners. */
  stop(): void;
}

/** Where the file of a message lies, and what opens and proves it. */
export interface MediaSource {
  kind: MediaKind;
  /** Null when the message came without its file. */
  directPath: string | null;
  /** 32 bytes; null: the file is not encrypted, as in channels. */
  key: Uint8Array | null;
  /** SHA-256 of the file itself; null when the message does not say. */
  sha256: Uint8Array | null;
}

/** A message whose file is asked for: by what the phone knows it, and its protobuf. */
export type MessageWithFile = Pick<Incoming, "id" | "chat" | "fromMe" | "participant" | "raw">;

/** What is loaded from WhatsApp's hosts, and how. */
export interface MediaRequest {
  /** Whose file it is: the way that number goes is gone for it, too. */
  deviceId: number;
  directPath: string;
  /** As `WhatsAppConnection.mediaHosts` gave them; empty: WhatsApp's usual one. */
  hosts: string[];
  maxBytes: number;
  /** Ends it early; it then fails with this signal's reason. */
  signal: AbortSignal;
}

/** What a chat shows of somebody who is about to write. */
export type ChatPresence = "typing" | "recording" | "paused";

/** What WhatsApp says of a number. */
export interface CheckedNumber {
  /** Digits, as asked. */
  number: string;
  exists: boolean;
  /** `<digits>@lid`; null when it has none. */
  lid: string | null;
}

/** One message to go out. The same value with the same id is sent again after a crash: nothing in it is made at random. */
export interface OutgoingMessage {
  waId: string;
  jid: string;
  draft: Draft;
}

/** A message that was sent, or is about to be. */
export interface SentContent {
  draft: Draft;
  /** Canonical id of the chat. */
  chat: string;
  /** The address that it was sent to. */
  jid: string;
}

/** What became of one attempt at a message. */
export type SendOutcome =
  /** The server's ack arrived. */
  | { kind: "sent" }
  /**
   * It may have been written or not: WhatsApp did not answer, the connection closed, or no ack came in time. Send the same
   * id again. `reason` is a sentence for people unless the gateway is to blame; `code` is the status that came, if one did.
   */
  | { kind: "unknown"; reason: string; code?: number; blame?: Blame }
  /**
   * WhatsApp wants this number to ask less often (429). Nothing went out; send the same id again after a pause, which is at least
   * `waitMs` when WhatsApp has said so.
   */
  | { kind: "limited"; reason: string; waitMs?: number }
  /**
   * WhatsApp or the encryption refused. `code` is WhatsApp's (463, 479, …), 0 when it gave none; `reason` is
   * `not_on_whatsapp` when nobody has that number, `file_gone` when the file to be sent is not kept any more, `not_member`
   * when it is for a group that the number is not in, else a sentence for people. `error`: the gateway's own code, when it is
   * the file to be handed on that cannot be had.
   */
  | { kind: "refused"; code: number; reason: string; until?: number; lockedFor?: string; error?: ErrorCode };

/**
 * What an attempt without an outcome says nothing against the message for: `line`, the connection or the gateway's storage;
 * `media`, WhatsApp's media service as a whole. `gateway`: an error of its own, whose reason is for the log alone. Absent: as
 * far as can be told it is the message, or whom it is for.
 */
export type Blame = "line" | "media" | "gateway";

/** Who has a connection. Nothing here throws. */
export interface ConnectionListener {
  /** Something has happened, in its order. */
  tell(event: ConnectionEvent): void;
  /** Resolves when it is stored, and WhatsApp is told so. Rejects when that may succeed later: it comes again. */
  store(event: AcknowledgedEvent): Promise<void>;
  /**
   * New messages, in arrival order, before anything of them is stored: what storing them takes (T1) becomes part of the
   * commit that moves the ratchet. May be called again for the same messages when that commit was not made.
   */
  messages(messages: Incoming[]): Intake;
  /**
   * Messages of the time before the number was linked, when they are imported at all. Resolves when they are stored; rejects
   * when that may succeed later: they come again. Default: they are left.
   */
  imported?(messages: Incoming[]): Promise<void>;
  /** Whether a call that comes now is rejected. Default: the phone rings. */
  rejectsCalls?(): boolean;
}

/** A message whose encryption becomes part of another commit, given to the writer in the same turn of the event loop. */
export interface EncryptedAhead {
  statements: Statement[];
  /** Sending the message uses what is encrypted, as long as nothing has changed that it depends on. */
  committed(): void;
  /** A position of the ratchet is left unused. */
  failed(): void;
}

/** A message that was read: its address, id and, in groups, writer as they came. */
export type ReadMessage = Pick<Incoming, "chat" | "id" | "participant">;

/** One number's connection to WhatsApp, from its opening to its end; there is a new one after each reconnect. */
export interface WhatsAppConnection {
  /**
   * Encrypts an everyday message for the commit that stores it, so that it takes none of its own when it is sent. Null when
   * it takes more than that; whoever stores nothing of it calls `failed`. Absent: it always does.
   */
  encryptAhead?(message: OutgoingMessage): EncryptedAhead | null;
  /**
   * Sends and waits for the server's ack: at most 10 s for what WhatsApp has to be asked before, as long as a file takes
   * to be stored, and 15 s from when the message is written. Never throws.
   */
  send(message: OutgoingMessage): Promise<SendOutcome>;
  /**
   * Resolves when WhatsApp has handed over what waited while the number was away, or has not within 10 s of opening, or
   * the connection ended: whatever was received of messages sent before has then been told. Never rejects.
   */
  caughtUp(): Promise<void>;
  /** All groups that the number is in, asked of WhatsApp now. */
  groups(): Promise<GroupInfo[]>;
  /**
   * One group, asked of WhatsApp now; null when WhatsApp says that there is none, or that the number is no member.
   *
   * @throws {RateOverlimit}, and when WhatsApp does not answer
   */
  group(id: string): Promise<GroupInfo | null>;
  /**
   * Whether somebody has these numbers (digits), asked of WhatsApp now. What it does not say is left out.
   *
   * @throws {RateOverlimit}, and when WhatsApp does not answer
   */
  checkNumbers(numbers: readonly string[]): Promise<CheckedNumber[]>;
  /**
   * What WhatsApp shows of a person, asked now.
   *
   * @throws {RateOverlimit}, and when WhatsApp does not answer
   */
  contactDetails(jid: string): Promise<ContactDetails>;
  /** Blocks a person, or lets him in again. @throws {NotBlockable}, and when WhatsApp refuses */
  setBlocked(jid: string, blocked: boolean): Promise<void>;
  /** The channel of an invite code or id; null when there is none. Rejects when WhatsApp does not answer. */
  channel(by: { invite: string } | { id: string }): Promise<ChannelInfo | null>;
  /** What the number does with groups as their member or admin. */
  groupAdmin: GroupAdmin;
  /** What the number shows of itself. */
  profile: ProfileLine;
  /** Rejects when WhatsApp refuses, or does not answer. */
  followChannel(id: string): Promise<void>;
  unfollowChannel(id: string): Promise<void>;
  /** 8 characters to type on the phone; only while a QR is pending. @throws {LinkingCodeRefused} */
  requestPairingCode(number: string): Promise<string>;
  /** Hands over an assertion. @throws NoPasskeyRequest when none is asked for; PasskeyRefused */
  answerPasskey(assertion: PasskeyAssertion): Promise<PasskeyStep>;
  /** The code that `answerPasskey` gave is the one on the phone. @throws NoPasskeyRequest when it gave none; PasskeyRefused */
  confirmPasskey(): Promise<void>;
  /** Sends receipts, to the writers as far as the owner's privacy allows it. @param messages that came, as they came */
  markRead(messages: readonly ReadMessage[]): Promise<void>;
  /**
   * Has the phone and all companions show a chat in this way.
   *
   * @param last its newest message; null: there is none
   * @throws when the phone has given no key for that yet, and when WhatsApp does not answer
   */
  changeChat(chat: string, settings: ChatSettings, last: LastMessage | null): Promise<void>;
  /** After how long messages of a chat with a person disappear from now on; 0: they stay. @param names all addresses of the chat */
  setTimer(chat: string, names: string[], seconds: number): Promise<SendOutcome>;
  /** Goes online, and asks WhatsApp to tell how somebody is until it does not any more. */
  watchPresence(chat: string): Promise<void>;
  goOffline(): Promise<void>;
  /** Shows in a chat that this side is typing or recording, or no longer. */
  showState(chat: string, state: ChatPresence): Promise<void>;
  /** Hosts of files, best first: names, with a port when it is not the usual one. */
  mediaHosts(): Promise<string[]>;
  /**
   * Asks the owner's phone to store the file of a message at WhatsApp again, and resolves with its new path.
   * @throws when the phone does not have it, or does not answer in time
   */
  reuploadMedia(message: MessageWithFile, timeoutMs: number): Promise<string>;
  /** Removes this companion at WhatsApp. Only on a user's explicit request. */
  logout(): Promise<void>;
  /** Closes without logging out: flushes what was received, then ends. Idempotent; resolves when nothing is in flight. */
  close(): Promise<void>;
}
