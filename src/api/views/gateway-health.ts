import type { OverviewRecord } from "../../app/overview.ts";
import { systemTime } from "../../model/time.ts";
import { iso, isoOrNull, nodeView } from "./views.ts";

/** The gateway as its operator sees it. */
export const healthView = (record: OverviewRecord) => ({
  version: record.version,
  node: record.runtime,
  whatsapp_version: record.whatsapp,
  started_at: iso(record.startedAt),
  uptime_seconds: Math.max(0, Math.round((systemTime.now() - record.startedAt) / 1000)),
  accounts: record.accounts,
  numbers: { total: record.numbers.total, by_state: record.numbers.byState },
  queues: {
    measured_at: iso(record.queues.measuredAt),
    inbox: queueView(record.queues.inbox),
    outbox: queueView(record.queues.outbox),
    deliveries: record.queues.deliveries,
  },
  stalls: {
    longest_ms: record.stalls.longestMs,
    latest: record.stalls.latest.map(({ at, ms, bots }) => ({ at: iso(at), ms, bots })),
  },
  storage: {
    measured_at: isoOrNull(record.disk.measuredAt),
    database_bytes: record.disk.database,
    media_bytes: record.disk.media,
    free_bytes: record.disk.free,
    total_bytes: record.disk.total,
  },
  backup: record.backup && { at: iso(record.backup.at), bytes: record.backup.bytes },
  retention: retentionView(record.retention),
  nodes: record.nodes.map(nodeView),
});

const queueView = ({ count, oldest }: { count: number; oldest: number | null }) => ({
  waiting: count,
  oldest_at: isoOrNull(oldest),
});

const retentionView = ({ days, last }: OverviewRecord["retention"]) => ({
  days,
  started_at: isoOrNull(last?.startedAt ?? null),
  ended_at: isoOrNull(last?.endedAt ?? null),
  next_at: isoOrNull(last?.nextAt ?? null),
  failed: last?.endedAt != null && last.failed,
});
