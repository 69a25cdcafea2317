import type { Logger } from "../log.ts";
import type { Incoming } from "../model/messages.ts";
import type { PasskeyAssertion, PasskeyRequest, PasskeyStep } from "../model/passkey.ts";
import type { Intake } from "../store/write/intake.ts";
import type { Store } from "../store/store.ts";
import type {
  AcknowledgedEvent,
  ChatEvent,
  LinkedIdentity,
  WhatsApp,
  WhatsAppConnection,
} from "../whatsapp/port.ts";
import type { DeviceChange, DeviceRecord } from "./device-record.ts";
import type { LinkShown } from "./link-session.ts";

/** What a caller of `/generate-qr` may be told. */
export type LinkAnswer =
  | { state: "processing" }
  | { state: "qr"; qr: string; expiresInMs: number }
  | { state: "code"; code: string; expiresInMs: number }
  | { state: "passkey"; passkey: PasskeyRequest; expiresInMs: number }
  /** WhatsApp asks for a passkey, and PASSKEY_LINKING is off; or it refuses the client's version. */
  | { state: "action_required"; reason: "passkey" | "version" }
  | { state: "connected" }
  | { state: "connecting" };

/** What a caller of `/generate-qr` is told; `qrcode` is a PNG data URI. */
export type LinkStatus =
  | Exclude<LinkAnswer, { state: "qr" }>
  | (LinkAnswer & { state: "qr"; qrcode: string });

/** What the life of one number takes. */
export interface NumberDeps {
  device: DeviceRecord;
  linked: boolean;
  whatsapp: Pick<WhatsApp, "connect" | "erase">;
  /** Whether a person may answer when WhatsApp asks for a passkey. */
  passkeys: boolean;
  store: Pick<Store, "time">;
  log: Logger;
  /** Between 0 and 1; for the jitter. */
  random(): number;
  /** False once another process may have the number: then nothing is begun any more. */
  isOurs(): boolean;
  /** Whether another process that had the number lately may still connect with its credentials. */
  isContested(): boolean;
  /** Another process has the number. */
  onTaken(): void;
  /** Stores changes of the record, in the order of the calls. */
  save(change: DeviceChange): void;
  /** State or QR changed. */
  changed(): void;
  /** See `NumbersDeps`. */
  beforeReading?(): Promise<void>;
  /** What storing these messages takes, see `ConnectionListener.messages`. */
  onMessages(messages: Incoming[]): Intake;
  /** Stores messages of the time before the linking, see `ConnectionListener.imported`. */
  onImported(messages: Incoming[]): Promise<void>;
  onAcknowledged(event: AcknowledgedEvent): Promise<void>;
  /** A message was acknowledged. */
  onSent(): void;
  tell(event: LiveEvent): void;
}

/** What happens to a number beside its own record. */
export type LiveEvent =
  /** It can send. */
  { type: "online" } | ChatEvent;

/** The life of one number: one connection at a time, and what follows when it ends. */
export interface NumberLife {
  readonly device: DeviceRecord;
  /** Milliseconds; null when nothing is scheduled. */
  readonly nextRetryAt: number | null;
  /** How many stanzas WhatsApp still holds back; null when it has not said, or holds none. */
  readonly waiting: number | null;
  /** What is shown for linking; null when nothing is. */
  shown(): LinkShown;
  isLinked(): boolean;
  /** Whether it connects by itself: linked, and neither blocked nor replaced. */
  comesBack(): boolean;
  identity(): LinkedIdentity | null;
  /** Null unless it is open. */
  connection(): WhatsAppConnection | null;
  /** Connects a linked number. */
  connect(): void;
  /** After a restart: what was being linked is not any more. */
  rest(): void;
  /** Answers within two seconds. @throws WRONG_NUMBER once, after another number scanned */
  link(options: { force: boolean; method: "qr" | "code" }): Promise<LinkAnswer>;
  /** @throws NO_PASSKEY_REQUEST when none is asked for; WHATSAPP_REFUSED */
  answerPasskey(assertion: PasskeyAssertion): Promise<PasskeyStep>;
  /** @throws NO_PASSKEY_REQUEST when there is nothing to confirm; WHATSAPP_REFUSED */
  confirmPasskey(): Promise<PasskeyStep>;
  /** Removes the companion at WhatsApp, as far as that can be reached, and forgets the credentials. */
  logout(): Promise<void>;
  /** It goes another way to WhatsApp from now on: what goes the old one ends. */
  reroute(): void;
  /** Closes without logging out. */
  stop(): Promise<void>;
}
