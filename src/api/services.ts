import type { SentMessage } from "../path/sent-message.ts";
import type { Alerts } from "../alerts/alerts.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { ApiKeys } from "../accounts/api-keys.ts";
import type { AuditLog } from "../accounts/audit-log.ts";
import type { Links } from "../accounts/links.ts";
import type { McpSessions } from "../accounts/mcp-sessions.ts";
import type { OperatorLink } from "../accounts/operator-link.ts";
import type { Sessions } from "../accounts/sessions.ts";
import type { ContactData } from "../app/contacts.ts";
import type { Forks } from "../app/forks.ts";
import type { Nodes } from "../app/nodes.ts";
import type { Overview } from "../app/overview.ts";
import type { WebhookTroubles } from "../app/webhook-trouble.ts";
import type { Audit } from "../audit/audit.ts";
import type { Backups } from "../backup/backups.ts";
import type { Bindings } from "../bot/bindings/bindings.ts";
import type { BotRecord } from "../bot/files/registry.ts";
import type { Config } from "../config.ts";
import type { Conversations } from "../conversations/index.ts";
import type { Channels } from "../directory/channels.ts";
import type { ContactQuestions } from "../directory/contacts/details.ts";
import type { ContactList } from "../directory/contacts/list.ts";
import type { ChatSettingsBook } from "../directory/chat-settings.ts";
import type { ChatPresences } from "../directory/chat-presence.ts";
import type { GroupAdministration } from "../directory/group-admin.ts";
import type { OwnProfiles } from "../directory/profiles.ts";
import type { Groups } from "../directory/groups.ts";
import type { Lids } from "../directory/lids.ts";
import type { PresenceWatch } from "../directory/presence-watch.ts";
import type { ReadReceipts } from "../directory/read-receipts.ts";
import type { NumberChecks } from "../directory/number-checks.ts";
import type { Events } from "../events/events.ts";
import type { Logger } from "../log.ts";
import type { ReceivedMedia } from "../media/incoming.ts";
import type { Media } from "../media/media.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Traffic } from "../metrics/traffic.ts";
import type { Numbers } from "../numbers/numbers.ts";
import type { Idempotency } from "../outbox/submitting/idempotency.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { MessagePath } from "../path/path.ts";
import type { MarkRead } from "../pipeline/read-marks.ts";
import type { Decisions } from "../pipeline/decisions.ts";
import type { checkStorage } from "../store/file/health.ts";
import type { Webhooks } from "../webhooks/index.ts";
import type { SharedCounts } from "./access/limiter.ts";

/**
 * What the routes ask of the gateway: parts of the domain's own types. `src/app.ts` hands the real ones in. Times are
 * Unix milliseconds; the answers' field names and ISO times are made in `views.ts`. Refusals are thrown as
 * `GatewayError`.
 */
export interface App {
  config: Config;
  log: Logger;
  /** Compares in constant time. */
  isAdminToken(token: string): boolean;
  accounts: Pick<Accounts, "create" | "list" | "get" | "update" | "remove" | "usage" | "takeSends">;
  keys: Pick<ApiKeys, "authenticate" | "hashOf" | "issue" | "list" | "remove" | "rotate">;
  sessions: Pick<Sessions, "open" | "authenticate" | "operatorCredential" | "list" | "end" | "choose">;
  mcpSessions: McpSessions;
  auditLog: AuditLog;
  links: Pick<Links, "make" | "list" | "remove">;
  operatorLink: Pick<OperatorLink, "make">;
  numbers: Pick<
    Numbers,
    | "ids"
    | "all"
    | "list"
    | "find"
    | "catchUp"
    | "current"
    | "register"
    | "remove"
    | "change"
    | "logout"
    | "link"
    | "answerPasskey"
    | "confirmPasskey"
    | "why"
    | "isLinked"
  >;
  audit: Pick<Audit, "report">;
  outbox: Pick<Outbox, "submit" | "cancel" | "rewrite" | "sentContent"> & {
    find(accountId: string, waId: string): Promise<SentMessage | null>;
  };
  idempotency: Pick<Idempotency, "begin">;
  groups: Pick<Groups, "list">;
  groupAdmin: GroupAdministration;
  ownProfiles: OwnProfiles;
  channels: Pick<Channels, "list" | "add" | "remove">;
  lids: Pick<Lids, "resolve" | "aliasesOf">;
  numberChecks: NumberChecks;
  contacts: ContactList & ContactQuestions;
  chatSettings: Pick<ChatSettingsBook, "change" | "setTimer">;
  presences: ChatPresences;
  presenceWatch: Pick<PresenceWatch, "watch">;
  receipts: ReadReceipts;
  webhooks: Pick<Webhooks, "get" | "put" | "remove" | "rotate" | "test" | "listeners">;
  deliveries: Pick<Webhooks["deliveries"], "list" | "find" | "replay" | "replayMany">;
  bots: {
    /** All bots, the broken ones with their error. */
    list(): BotRecord[];
    /**
     * Reads the files of bots again, while the connections stay.
     * @throws UNAVAILABLE when the folder cannot be read: all bots stay as they are
     */
    reload(): Promise<BotRecord[]>;
  };
  bindings: Pick<Bindings, "list" | "put" | "change" | "routes">;
  forks: Forks;
  decisions: Pick<Decisions, "list">;
  conversations: Conversations & Pick<MessagePath, "takeOver"> & { markRead: MarkRead };
  events: Pick<Events, "read">;
  metrics: Pick<Metrics, "authFailed" | "read" | "contentType">;
  traffic: Pick<Traffic, "report">;
  media: Pick<ReceivedMedia, "open">;
  files: Pick<Media, "prepare" | "profilePicture" | "take" | "hasConverter"> & {
    uploads: Pick<Media["uploads"], "add">;
  };
  health: {
    /** Whether the database can be written and the disk has room. */
    check(): ReturnType<typeof checkStorage>;
    /** Milliseconds for which the event loop stood still, at the longest, in the last five minutes. */
    longestStallMs(): number;
  };
  /** What nodes share besides the database; null: this process is alone. */
  redis: SharedCounts | null;
  /** Resolves when the other nodes know what this one has changed so far. */
  settle(): Promise<void>;
  nodes: Nodes;
  overview: Pick<Overview, "look">;
  backups: Pick<Backups, "make">;
  contactData: ContactData;
  webhookTroubles: WebhookTroubles;
  alerts: Pick<Alerts, "report" | "test">;
  /** Called once the port is open: restores linked numbers, lanes, outbox and retries. */
  start(): Promise<void>;
  /** Before `stop`: the other nodes get the numbers, and this one serves meanwhile. Nothing in a process that is alone. */
  handOver(): Promise<void>;
  /**
   * Ends what is under way, closes connections and the database. Resolves when nothing is left to lose.
   *
   * @param requests resolves when the requests under way are answered; waited for, but not for ever
   */
  stop(requests?: Promise<void>): Promise<void>;
}
