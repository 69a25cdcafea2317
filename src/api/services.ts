import type { Logger } from "pino";
import type { AuditReport } from "../audit/report.ts";
import type { Config } from "../config.ts";
import type { EventReader } from "../events/events.ts";
import type { Destination } from "../model/address.ts";
import type { ErrorCode } from "../model/errors.ts";
import type { MediaRequest } from "../model/media.ts";
import type { Draft, MediaDraft, MediaKind, PollTally, SentState } from "../model/messages.ts";
import type { Plan } from "../model/plan.ts";
import type { Begun, Claim, IdempotentRequest } from "../outbox/idempotency.ts";

/**
 * What the routes ask of the gateway. `src/app.ts` hands the real parts in. Times are Unix milliseconds; the answers'
 * field names and ISO times are made in `views.ts`. Refusals are thrown as `GatewayError`.
 */
export interface App {
  config: Config;
  log: Logger;
  /** Compares in constant time. */
  isAdminToken(token: string): boolean;
  accounts: AccountService;
  keys: KeyService;
  numbers: NumberService;
  audit: AuditService;
  outbox: OutboxService;
  idempotency: IdempotencyService;
  groups: GroupService;
  channels: ChannelService;
  lid: LidService;
  webhooks: WebhookService;
  deliveries: DeliveryService;
  bots: BotService;
  decisions: DecisionService;
  events: EventService;
  metrics: MetricsService;
  media: MediaService;
  files: FileService;
  health: HealthService;
  backups: BackupService;
  /** Called once the port is open: restores linked numbers, lanes, outbox and retries. */
  start(): Promise<void>;
  /**
   * Ends what is under way, closes connections and the database. Resolves when nothing is left to lose.
   *
   * @param requests resolves when the requests under way are answered; waited for, but not for ever
   */
  stop(requests?: Promise<void>): Promise<void>;
}

type Maybe<T> = T | null | Promise<T | null>;
type Soon<T> = T | Promise<T>;

export interface AccountRecord {
  id: string;
  name: string;
  plan: string;
  enabled: boolean;
  createdAt: number;
}

/** Who asks, as one API key says. */
export interface Caller {
  accountId: string;
  keyId: string;
  permissions: string[];
  /** Numbers the key may use; null is all of the account. */
  devices: string[] | null;
  /** Destinations or patterns ending in `*`; null is every destination. */
  recipients: string[] | null;
  account: AccountRecord;
}

export interface AccountService {
  /** Makes the account and its first key with every permission. */
  create(account: { name: string; plan: string }): Promise<{ account: AccountRecord; apiKey: string }>;
  list(): Soon<AccountRecord[]>;
  get(id: string): Maybe<AccountRecord>;
  update(id: string, change: { name?: string; plan?: string; enabled?: boolean }): Maybe<AccountRecord>;
  /** Logs the account's numbers out and erases everything that is the account's; false when there is none. */
  remove(id: string): Promise<boolean>;
  usage(id: string): Maybe<{ limits: Plan; used: { devices: number; keys: number; sends_per_day: number } }>;
  /**
   * Takes so many sends out of what the plan allows today; null when it does not limit them.
   * @throws QUOTA_EXCEEDED: nothing is taken
   */
  takeSends(id: string, wanted: number): Maybe<SendShare>;
}

/** Sends taken out of the plan of the day. */
export interface SendShare {
  limit: number;
  /** What is left now. */
  remaining(): number;
  /** So many were not stored after all. */
  giveBack(count: number): void;
}

export interface KeyRecord {
  id: string;
  name: string;
  permissions: string[];
  devices: string[] | null;
  recipients: string[] | null;
  expiresAt: number | null;
  createdAt: number;
  lastUsedAt: number | null;
  prefix: string;
}

export interface NewKey {
  name: string;
  permissions: string[];
  devices: string[] | null;
  recipients: string[] | null;
  expiresAt: number | null;
}

export interface KeyService {
  /** Null when unknown, malformed, deleted or expired. A disabled account is a caller all the same. */
  authenticate(key: string): Maybe<Caller>;
  /**
   * @param by the key that asks; null for the operator
   * @throws PLAN_LIMIT; PERMISSION_DENIED when the new key could do more than the one that asks
   */
  issue(accountId: string, key: NewKey, by: Caller | null): Promise<{ key: KeyRecord; apiKey: string }>;
  list(accountId: string): Soon<KeyRecord[]>;
  remove(accountId: string, id: string): Promise<boolean>;
  /**
   * The old secret ends at once. Null when the account has no such key.
   * @throws PERMISSION_DENIED as above: who gets the new secret gets all that it may do
   */
  rotate(
    accountId: string,
    id: string,
    by: Caller | null,
  ): Promise<{ key: KeyRecord; apiKey: string } | null>;
}

export interface DeviceRecord {
  id: number;
  accountId: string;
  /** Digits. */
  number: string;
  state: string;
  since: number;
  lid: string | null;
  name: string | null;
  platform: string | null;
  lastIn: number | null;
  lastOut: number | null;
}

/** What a caller of `/generate-qr` is told; `qrcode` is a data URI, made only when somebody asks. */
export type LinkStatus =
  | { state: "processing" }
  | { state: "qr"; qr: string; qrcode: string; expiresInMs: number }
  | { state: "code"; code: string; expiresInMs: number }
  | { state: "connected" }
  | { state: "connecting" };

export interface WhyRecord {
  state: string;
  since: number;
  lastClose: { code: number; reason: string; at: number } | null;
  nextRetryAt: number | null;
  /** One sentence for people. */
  advice: string;
}

export interface NumberService {
  list(accountId: string): Soon<DeviceRecord[]>;
  find(accountId: string, number: string): Maybe<DeviceRecord>;
  /**
   * Registers without linking; a number that is there already is answered as it is.
   * @throws PLAN_LIMIT
   */
  register(accountId: string, number: string): Promise<DeviceRecord>;
  /** Logs out and erases. */
  remove(deviceId: number): Promise<void>;
  /** Keeps record and webhook, leaves `unlinked`. */
  logout(deviceId: number): Promise<void>;
  /**
   * Answers within two seconds.
   * @throws WRONG_NUMBER once, after another number scanned
   */
  link(deviceId: number, options: { force: boolean; method: "qr" | "code" }): Promise<LinkStatus>;
  why(deviceId: number): Maybe<WhyRecord>;
  /** True while a phone has it linked, connected or not. */
  isLinked(deviceId: number): Soon<boolean>;
}

export interface SendRequest {
  caller: Caller;
  device: DeviceRecord;
  /** First-seen order, without duplicates. */
  destinations: Destination[];
  draft: Draft;
  /** Message to quote when it is known. */
  quoteId?: string;
  /** Remembers the messages in the commit that stores them; null when the caller named no idempotency key. */
  claim?: Claim | null;
}

export interface IdempotencyService {
  /** @throws IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_KEY_REUSED */
  begin(request: IdempotentRequest): Promise<Begun>;
}

export interface SendResult {
  /** As the destination shows it. */
  number: string;
  state: "sent" | "queued" | "failed";
  /** Message id on the wire; null when nothing was stored for this destination. */
  id: string | null;
  error?: SendError;
}

/** `code` and what stands beside it (`reason`, `whatsapp_code`, `until`). */
export interface SendError {
  code: ErrorCode;
  [extra: string]: unknown;
}

export interface MessageRecord {
  id: string;
  /** Number that sent it. */
  sender: string;
  number: string;
  kind: string;
  /** What made it: `api`, `bot:<id>` or `webhook`. */
  origin: string;
  state: SentState;
  history: { state: SentState; at: number }[];
  error?: SendError | null;
  /** Of a poll: who chose what. */
  poll?: PollTally & { name: string };
}

export interface OutboxService {
  /** Stores, then waits at most `SEND_WAIT_MS`. One result per destination, same order. */
  submit(request: SendRequest): Promise<SendResult[]>;
  find(accountId: string, waId: string): Maybe<MessageRecord>;
}

export interface GroupRecord {
  id: string;
  name: string;
  participants: number;
  onlyAdmins: boolean;
  isMember: boolean;
  isAdmin: boolean;
  canSend: boolean;
}

export interface GroupService {
  /** @throws WHATSAPP_REFUSED when none are in store and WhatsApp cannot be asked */
  list(
    deviceId: number,
    options: { refresh: boolean },
  ): Promise<{ groups: GroupRecord[]; cachedAt: number; stale: boolean }>;
}

export interface ChannelRecord {
  id: string;
  name: string;
  role: "owner" | "admin" | "subscriber" | "guest";
  canSend: boolean;
}

export interface ChannelService {
  list(deviceId: number): Promise<ChannelRecord[]>;
  /** @throws NOT_ON_WHATSAPP, WHATSAPP_REFUSED */
  add(deviceId: number, channel: { invite: string } | { id: string }): Promise<ChannelRecord>;
  /** False when it is not registered. @throws WHATSAPP_REFUSED */
  remove(deviceId: number, id: string): Promise<boolean>;
}

export interface LidService {
  /** @param lid `<digits>@lid` · @returns digits, or null when not available */
  resolve(deviceId: number, lid: string): Maybe<string>;
}

export interface WebhookConfig {
  url: string;
  mode: "fallback" | "always" | "off";
  replyTo: "chat" | "sender";
  events: string[];
  headers: Record<string, string>;
  timeoutMs: number;
  /** Seconds. */
  replyMaxAge: number;
  read: boolean;
  typing: boolean;
  enabled: boolean;
}

/** With how it does; times are Unix milliseconds. */
export interface WebhookRecord extends WebhookConfig {
  health: {
    /** `paused`: nothing is posted for now · `disabled`: nothing until it is set anew */
    state: "ok" | "failing" | "paused" | "disabled";
    failures: number;
    failingSince: number | null;
    pausedUntil: number | null;
    /** Why Parley switched it off; null when its owner did. */
    reason: "gone" | "failing" | null;
  };
}

export interface WebhookService {
  get(deviceId: number): Maybe<WebhookRecord>;
  /**
   * Replaces everything. `secret` only when it was first made.
   * @throws URL_NOT_ALLOWED
   */
  put(deviceId: number, config: WebhookConfig): Promise<{ config: WebhookRecord; secret: string | null }>;
  /** False when there is none. */
  remove(deviceId: number): Promise<boolean>;
  rotate(deviceId: number): Promise<{ config: WebhookRecord; secret: string } | null>;
  test(deviceId: number): Promise<{
    statusCode: number | null;
    durationMs: number;
    answer: string | null;
    understood: boolean;
  } | null>;
}

export interface DeliveryRecord {
  id: string;
  /** Digits of the number. */
  device: string;
  messageId: string;
  type: string;
  url: string;
  state: "pending" | "delivered" | "retrying" | "dead" | "disabled";
  attempts: {
    at: number;
    statusCode: number | null;
    durationMs: number;
    error: string | null;
    answer: string | null;
  }[];
  nextAt: number | null;
  reply: { understood: boolean; ignored: string[]; ids: string[] } | null;
}

export interface DeliveryFilter {
  /** Device records whose deliveries may be seen. */
  deviceIds: number[];
  state?: DeliveryRecord["state"];
  limit: number;
  /** Id of a delivery, or an ISO time: only older ones. */
  before?: string;
}

export interface ReplayFilter {
  deviceIds: number[];
  state?: DeliveryRecord["state"];
  /** Unix milliseconds, both inclusive. */
  since?: number;
  until?: number;
  ids?: string[];
}

export interface DeliveryService {
  /** Newest first. `total` counts what the filter matches, without `limit` and `before`. */
  list(filter: DeliveryFilter): Promise<{ total: number; deliveries: DeliveryRecord[] }>;
  find(accountId: string, id: string): Maybe<DeliveryRecord>;
  /** A further attempt under the same id. Null when there is no such delivery. */
  replay(accountId: string, id: string): Promise<DeliveryRecord | null>;
  /**
   * The same for all that match; without `state` and `ids` those given up. How many wait for their attempt now.
   * @throws NOT_FOUND when none of the numbers has a webhook that is switched on
   */
  replayMany(filter: ReplayFilter): Promise<number>;
}

export interface BotRecord {
  id: string;
  priority: number;
  enable: string;
  routes: { kind: string; pattern: string }[];
  /** Why the bot is off, when its file could not be loaded. */
  error?: string;
  /** The file could be loaded once and cannot be now: what it was then goes on. */
  kept?: boolean;
}

export interface BotBinding {
  id: string;
  enabled: boolean;
  priority: number | null;
  config: Record<string, unknown> | null;
}

/** A bot with what holds of it on one number; `priority` is the one in force. */
export interface BoundBot extends BotRecord {
  enabled: boolean;
  config: Record<string, unknown> | null;
}

/** A binding of which only some things are said. */
export type BotBindingChange = Pick<BotBinding, "id"> & Partial<BotBinding>;

/** Who would be asked in which order, and what in it works otherwise than it may look. */
export interface BotRoutes {
  routes: { bot: string; priority: number; chats: string[]; kind: string; pattern: string }[];
  conflicts: {
    kind: string;
    winner: { bot: string; route: string };
    /** Null: the webhook. */
    loser: { bot: string; route: string } | null;
    /** One sentence for people. */
    text: string;
  }[];
}

export interface BotService {
  list(): Soon<BotRecord[]>;
  /** Every bot with what holds for this number: what was bound, else the bot's own default. */
  bindings(deviceId: number): Soon<BoundBot[]>;
  /** Replaces what is bound; the ids are known to exist. */
  bind(deviceId: number, bindings: BotBinding[]): Promise<BoundBot[]>;
  /** Changes what is said of these bots only; the ids are known to exist. */
  rebind(deviceId: number, changes: BotBindingChange[]): Promise<BoundBot[]>;
  /** @param deviceId null: for a number of which nothing is said */
  routes(deviceId: number | null): BotRoutes;
  /**
   * Reads the files of bots again, while the connections stay.
   * @throws UNAVAILABLE when the folder cannot be read: all bots stay as they are
   */
  reload(): Promise<BotRecord[]>;
}

export type AuditRecord = AuditReport;

export interface AuditService {
  /**
   * @param since Unix milliseconds. Default: seven days ago
   * @throws INVALID_PARAMETERS when nothing is kept of that time
   */
  report(deviceId: number, since?: number): Promise<AuditRecord>;
}

/** What was decided about one incoming message, and why. */
export interface DecisionRecord {
  messageId: string;
  /** Digits of the number. */
  device: string;
  /** As `number` of a send takes it. */
  chat: string;
  by: string | null;
  route: string | null;
  guard: string | null;
  trail: { by: string; outcome: string; route?: string; detail?: string }[];
  at: number;
}

/** A decision in store, of one number. */
export interface StoredDecision extends Omit<DecisionRecord, "device"> {
  type: string;
}

export interface DecisionFilter {
  deviceId: number;
  message?: string;
  /** Addresses of chats. */
  chats?: string[];
  limit: number;
  /** Id of a message, or an ISO time: only older ones. */
  before?: string;
}

export interface DecisionService {
  /** Newest first. `total` counts what the filter matches, without `limit` and `before`. */
  list(filter: DecisionFilter): Promise<{ total: number; decisions: StoredDecision[] }>;
}

export interface EventService {
  /** Null when the account has as many listeners as it may. */
  read(accountId: string, after: number | null): EventReader | null;
}

/** A file that is ready to be given away. */
export interface OpenedFile {
  /** As the sender's phone says: anything. */
  mimetype: string;
  /** "" when the message has none. */
  fileName: string;
  kind: MediaKind;
  /** Bytes. */
  size: number;
  /** Fails instead of giving the last bytes when the file is damaged. */
  body: AsyncIterable<Uint8Array>;
}

export interface MediaService {
  /**
   * The file of a message that arrived. Null when the signed address is wrong or expired.
   * @throws FILE_TOO_LARGE, FILE_UNREACHABLE, FILE_NOT_USABLE
   */
  open(token: string): Promise<OpenedFile | null>;
}

export interface FileService {
  /**
   * Fetches a file and makes it ready to be sent, to however many destinations.
   * @throws FILE_UNREACHABLE, FILE_NOT_USABLE, FILE_TOO_LARGE, URL_NOT_ALLOWED, CONVERTER_MISSING, UNAVAILABLE
   */
  prepare(request: MediaRequest): Promise<MediaDraft>;
}

export interface MetricsService {
  /** A caller without a valid key or token. */
  authFailed(reason: string): void;
  /** Prometheus' text format. */
  read(): Promise<string>;
  contentType: string;
}

export interface HealthService {
  /** Whether the database can be written and the disk has room. */
  check(): Promise<{ database: boolean; disk: boolean }>;
  /** Milliseconds for which the event loop stood still, at the longest, in the last five minutes. */
  longestStallMs(): number;
}

export interface BackupService {
  /**
   * A copy of all data at one instant. What was made for it is removed when its body ends or is given up.
   * @throws RATE_LIMITED, UNAVAILABLE
   */
  make(): Promise<{ fileName: string; body: AsyncIterable<Uint8Array> }>;
}
