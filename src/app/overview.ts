import { meta } from "../../drizzle/schema.ts";
import packageJson from "../../package.json" with { type: "json" };
import { createBackups, type MadeBackup } from "../backup/backups.ts";
import { readDeliveries, type DeliveryQueue } from "../metrics/delivery-queue.ts";
import { readIncoming, readOutgoing } from "../metrics/queues.ts";
import { SECOND_MS } from "../model/time.ts";
import type { Numbers } from "../numbers/numbers.ts";
import type { MessagePath } from "../path/path.ts";
import type { Stall } from "../process/stalls.ts";
import type { RetentionRun } from "../retention/retention.ts";
import { defineQuery } from "../store/query.ts";
import { openAlerts } from "./alerts.ts";
import { openScheduledBackups } from "./backups.ts";
import type { Base, Data } from "./data.ts";
import { createDiskUsage, type DiskUsage } from "./disk-usage.ts";
import { openWebhookTroubles } from "./webhook-trouble.ts";
import { openContacts } from "./contacts.ts";
import { openNodes, type NodeRecord } from "./nodes.ts";

/** What waits. Times are Unix milliseconds. */
export interface Queues {
  measuredAt: number;
  inbox: { count: number; oldest: number | null };
  outbox: { count: number; oldest: number | null };
  deliveries: DeliveryQueue;
}

/** The gateway as its operator sees it. */
export interface OverviewRecord {
  version: string;
  /** Of Node.js. */
  runtime: string;
  whatsapp: { version: string; refused: boolean };
  startedAt: number;
  accounts: number | null;
  numbers: { total: number; byState: Record<string, number> };
  queues: Queues;
  stalls: { longestMs: number; latest: readonly Stall[] };
  disk: DiskUsage;
  backup: MadeBackup | null;
  retention: { days: number; last: RetentionRun | null };
  nodes: NodeRecord[];
}

/** Whoever tells the operator how the gateway is. */
export interface Overview {
  look(): Promise<OverviewRecord>;
  /** Remembers that somebody has a backup. */
  backedUp(backup: MadeBackup): void;
}

interface OverviewParts {
  accounts: { list(wanted: { limit: number }): Promise<{ total: number | null }> };
  numbers: Pick<Numbers, "all" | "get" | "ids">;
  stalls: { longestMs(): number; latest(): readonly Stall[] };
  retention: { last(): RetentionRun | null };
}

/** Counting everything that waits is for once in so long, however many ask. */
const QUEUES_REMEMBERED_MS = 10 * SECOND_MS;
const BACKUP = defineQuery("SELECT value FROM meta WHERE key = 'last_backup'", { value: meta.value });
const KEEP_BACKUP =
  "INSERT INTO meta (key, value) VALUES ('last_backup', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/** Gathers what others know; looks up little itself, and that not often. */
function openOverview(
  { store, config, log }: Base,
  { whatsapp }: Pick<Data, "whatsapp">,
  nodes: { list(): Promise<NodeRecord[]> },
  parts: OverviewParts,
): Overview {
  const startedAt = Math.round(store.now() - process.uptime() * SECOND_MS);
  const disk = createDiskUsage(config, store.time);
  let queues: { at: number; found: Promise<Queues> } | null = null;

  async function countQueues(): Promise<Queues> {
    const ids = parts.numbers.all().map(({ id }) => id);
    return {
      measuredAt: store.now(),
      inbox: await readIncoming(store),
      outbox: await readOutgoing(store),
      deliveries: await readDeliveries(store, ids),
    };
  }

  function queuesNow(): Promise<Queues> {
    const at = store.time.monotonic();
    if (queues === null || at - queues.at >= QUEUES_REMEMBERED_MS) queues = { at, found: countQueues() };
    return queues.found;
  }

  function countStates(): OverviewRecord["numbers"] {
    const byState: Record<string, number> = {};
    const all = parts.numbers.all();
    for (const { state } of all) byState[state] = (byState[state] ?? 0) + 1;
    return { total: all.length, byState };
  }

  return {
    async look() {
      const backup = await store.readOne(BACKUP);
      return {
        version: packageJson.version,
        runtime: process.version,
        whatsapp: whatsapp.clientVersion(),
        startedAt,
        accounts: (await parts.accounts.list({ limit: 1 })).total,
        numbers: countStates(),
        queues: await queuesNow(),
        stalls: { longestMs: parts.stalls.longestMs(), latest: parts.stalls.latest() },
        disk: await disk(),
        backup: backup && (JSON.parse(backup.value) as MadeBackup),
        retention: { days: config.retentionDays, last: parts.retention.last() },
        nodes: await nodes.list(),
      };
    },
    backedUp({ at, bytes }) {
      const kept = [{ sql: KEEP_BACKUP, args: [JSON.stringify({ at, bytes })] }];
      store.writer
        .commit(kept)
        .catch((err: unknown) => log.warn({ err }, "could not record that a backup was made"));
    },
  };
}

/** What is there for the operator alone. */
export function openDesk(
  base: Base,
  data: Pick<Data, "whatsapp" | "files" | "contactNotes">,
  path: Pick<MessagePath, "webhooks">,
  parts: OverviewParts,
) {
  const { config, log, store } = base;
  const nodes = openNodes(base, { ids: parts.numbers.ids, lagMs: parts.stalls.longestMs });
  const overview = openOverview(base, data, nodes, parts);
  const backups = createBackups({ config, log, now: store.now, onMade: overview.backedUp });
  const alerts = openAlerts(base, parts.numbers, path);
  const scheduled = openScheduledBackups(base, backups, alerts);
  return {
    nodes,
    overview,
    backups,
    alerts,
    contactData: openContacts(base, data),
    webhookTroubles: openWebhookTroubles(base, path),
    /** What goes on by itself, and its end. */
    watching: {
      async start() {
        await alerts.start();
        scheduled?.start();
      },
      async stop() {
        backups.stop();
        await scheduled?.stop();
        await alerts.stop();
      },
      ended: alerts.ended,
    },
  };
}
