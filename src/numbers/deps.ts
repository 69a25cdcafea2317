import type { Logger } from "../log.ts";
import type { Cluster } from "../model/nodes/cluster.ts";
import type { Incoming } from "../model/messages.ts";
import type { News } from "../model/nodes/news.ts";
import type { Intake } from "../store/write/intake.ts";
import type { Statement, Store } from "../store/store.ts";
import type {
  ChannelChange,
  GroupChange,
  MessageReceipt,
  OwnReading,
  ReachoutLock,
  WhatsApp,
} from "../whatsapp/port.ts";
import type { DeviceRecord } from "./device-record.ts";
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
  /** What storing these messages takes, see `WhatsAppEvents.messages`. */
  onMessages(deviceId: number, ownNumber: string, messages: Incoming[]): Intake;
  onReceipts(deviceId: number, receipts: MessageReceipt[]): Promise<void>;
  /** What WhatsApp tells of groups, and of channels. None: all of them changed somehow. */
  onGroupsChanged(deviceId: number, changes: GroupChange[]): void;
  /** WhatsApp has told of a lock on first contacts, or of its end (null). */
  onReachout?(deviceId: number, lock: ReachoutLock | null): void;
  onChannelsChanged(deviceId: number, changes: ChannelChange[]): void;
  /** The owner has read messages on another device of the number. */
  onRead(deviceId: number, reading: OwnReading): Promise<void>;
  /** The number is online and can send. */
  onOpen(deviceId: number): void;
  /** State or QR of a number changed. */
  onState?(device: DeviceRecord): void;
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
  /** Whether a person may answer when WhatsApp asks for a passkey. Default false. */
  passkeys?: boolean;
}
