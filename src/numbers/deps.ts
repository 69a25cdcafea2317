import type { Logger } from "../log.ts";
import type { Cluster } from "../model/nodes/cluster.ts";
import type { Incoming } from "../model/messages.ts";
import type { News } from "../model/nodes/news.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import type { Intake } from "../store/write/intake.ts";
import type { Statement, Store } from "../store/store.ts";
import type { AcknowledgedEvent, WhatsApp } from "../whatsapp/port.ts";
import type { DeviceRecord } from "./device-record.ts";
import type { LiveEvent } from "./number-life.ts";
import type { Holdups } from "./why.ts";

/** What numbers take. */
export interface NumbersDeps {
  store: Store;
  log: Logger;
  /** The processes that share the database; each number lives in one of them. Default: there are no others. */
  cluster?: Cluster;
  /** Default: nobody is told. */
  news?: News;
  whatsapp: WhatsApp;
  /** Deletes the record and everything of a number that is logged out; what is much of it, later. @param beside for the same commit */
  erase(deviceId: number, beside: Statement[]): Promise<void>;
  /** How many numbers the account may have; null is no limit. */
  deviceLimit(accountId: string): Promise<number | null>;
  /** Before each connection reads: what is stored already comes first. Rejects when it has to be tried again later. */
  beforeReading?(deviceId: number): Promise<void>;
  /** What storing these messages takes, see `ConnectionListener.messages`. */
  onMessages(deviceId: number, ownNumber: string, messages: Incoming[]): Intake;
  /** See `ConnectionListener.imported`. Default: they are left. */
  onImported?(deviceId: number, messages: Incoming[]): Promise<void>;
  /** See `ConnectionListener.store`. */
  onAcknowledged(deviceId: number, event: AcknowledgedEvent): Promise<void>;
  /** Something has happened to a number. */
  tell(event: NumberEvent): void;
  /** What telling of a number's new state takes: stored with the state. */
  onMoved?(device: DeviceRecord): Intake;
  /** Another process has registered a number of a partition that this one has. Resolves when it lives here; never rejects. */
  onNew?(deviceId: number): Promise<void>;
  /** Another process has removed the number. */
  onGone?(deviceId: number): void;
  /** A commit has shown that another process has the number. */
  onTaken?(deviceId: number): void;
  /** What keeps a number from sending, beside its connection. Default: nothing does. */
  holdups?(deviceId: number): Holdups;
  /** Milliseconds between two numbers that connect. Default 50. */
  loginEveryMs?(): number;
  /** Between 0 and 1, for the jitter of reconnecting. Default `Math.random`. */
  random?(): number;
  /** Whether a number may go through a proxy at this address, see `SafeFetch.check`. Default: through any. */
  checkProxy?: SafeFetch["check"];
  /** Whether a person may answer when WhatsApp asks for a passkey. Default false. */
  passkeys?: boolean;
}

/** What happens to numbers. */
export type NumberEvent =
  /** State, QR or another part of the record is another now; the record goes on changing. */
  { type: "device"; deviceId: number; record: DeviceRecord } | ({ deviceId: number } & LiveEvent);
