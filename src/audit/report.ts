import type { Store } from "../store/store.ts";
import type { ConnectionFacts, MissingReason } from "../whatsapp/port.ts";
import { gapsIn } from "./gaps.ts";

/** What became of one message that was missing. */
export type MissingState =
  /** It came after all. */
  | "arrived"
  /** It was asked for and may come. */
  | "asked"
  | "lost"
  /** WhatsApp shows it on the phone alone. */
  | "phone_only"
  /** Sent from this number by somebody else than this gateway, as far as it knows. */
  | "unknown_send";

export interface MissingEntry {
  id: string;
  /** Canonical ids. */
  chat: string;
  from: string;
  reason: MissingReason;
  state: MissingState;
  noticedAt: number;
  resolvedAt: number | null;
}

/** What is known of a number's incoming messages over a time. Times are Unix milliseconds. */
export interface AuditReport {
  since: number;
  until: number;
  /** Messages that existed, are not here, and were not only just noticed. */
  lost: number;
  /** Messages of others in the inbox. */
  received: number;
  /** Those of them that a bot answered, or that the webhook was given. */
  answeredOrForwarded: number;
  /** Those of them that wait for a decision. */
  pending: number;
  /** Missing and asked for, or announced by WhatsApp; may still come. */
  awaited: number;
  /** Missing for a while, and came after all. */
  recovered: number;
  /** Newest first, at most 100. */
  connections: ConnectionFacts[];
  /** Newest first, at most 500. */
  missing: MissingEntry[];
}

/** Whoever wrote it, or the owner's phone, has so long to send it again. */
const ASKED_FOR_MS = 10 * 60_000;
const MOST_CONNECTIONS = 100;
const MOST_MISSING = 500;
const IDS_AT_ONCE = 5_000;

const CONNECTIONS = `select opened_at, closed_at, code, announced, arrived from connections
  where device_id = ? and opened_at <= ? and (opened_at >= ? or closed_at is null or closed_at >= ?) order by opened_at, id`;
const MISSING = `select chat, sender, wa_id, reason, noticed_at, resolved_at from missing_messages
  where device_id = ? and noticed_at >= ? order by noticed_at desc`;
const COUNT = `select count(*) as received, coalesce(sum(i.state = 'pending'), 0) as pending, coalesce(sum(exists (
    select 1 from decisions d where d.inbox_id = i.id and (d."by" is not null or exists (
      select 1 from json_each(d.trail) t where t.value ->> 'by' = 'webhook')))
  ), 0) as handled
  from inbox i where i.id > ? and i.id <= ? and i.device_id = ? and i.received_at >= ? and i.from_me = 0`;

export async function reportOn(
  store: Pick<Store, "rows">,
  deviceId: number,
  since: number,
  until: number,
): Promise<AuditReport> {
  const connections = await readConnections(store, deviceId, since, until);
  const missing = await readMissing(store, deviceId, since, until);
  const counted = await countInbox(store, deviceId, since);
  const gaps = gapsIn(connections);
  // On a connection that has been open for a while nothing waits any more.
  const overdue = (connections.at(-1)?.openedAt ?? until) < until - ASKED_FOR_MS;
  const stillOpen = connections.at(-1)?.closedAt === null;
  const never = gaps.lost + (overdue && stillOpen ? gaps.awaited : 0);
  const count = (state: MissingState): number => missing.filter((entry) => entry.state === state).length;
  return {
    since,
    until,
    lost: count("lost") + never,
    ...counted,
    awaited: count("asked") + (gaps.lost + gaps.awaited - never),
    recovered: count("arrived"),
    connections: connections.toReversed().slice(0, MOST_CONNECTIONS),
    missing: missing.slice(0, MOST_MISSING),
  };
}

async function readConnections(
  { rows }: Pick<Store, "rows">,
  deviceId: number,
  since: number,
  until: number,
): Promise<ConnectionFacts[]> {
  const found = await rows(CONNECTIONS, [deviceId, until, since, since]);
  return found
    .map((row) => ({
      openedAt: Number(row.opened_at),
      closedAt: numberOrNull(row.closed_at),
      code: numberOrNull(row.code),
      announced: numberOrNull(row.announced),
      arrived: Number(row.arrived),
    }))
    .filter(({ openedAt, closedAt }, index, all) =>
      // Without an end, and not the newest: the process died with it, long ago perhaps.
      closedAt === null ? openedAt >= since || index === all.length - 1 : true,
    );
}

async function readMissing(
  { rows }: Pick<Store, "rows">,
  deviceId: number,
  since: number,
  until: number,
): Promise<MissingEntry[]> {
  const found = await rows(MISSING, [deviceId, since]);
  return found.map((row) => {
    const reason = String(row.reason) as MissingReason;
    const noticedAt = Number(row.noticed_at);
    const resolvedAt = numberOrNull(row.resolved_at);
    const state = stateOf(reason, noticedAt, resolvedAt, until);
    return {
      id: String(row.wa_id),
      chat: String(row.chat),
      from: String(row.sender),
      reason,
      state,
      noticedAt,
      resolvedAt,
    };
  });
}

function stateOf(
  reason: MissingReason,
  noticedAt: number,
  resolvedAt: number | null,
  now: number,
): MissingState {
  if (resolvedAt !== null) return "arrived";
  if (reason === "phone_only" || reason === "unknown_send") return reason;
  return noticedAt > now - ASKED_FOR_MS ? "asked" : "lost";
}

/** In steps: a count over everything at once would keep messages waiting. */
async function countInbox(
  store: Pick<Store, "rows">,
  deviceId: number,
  since: number,
): Promise<Pick<AuditReport, "received" | "answeredOrForwarded" | "pending">> {
  const [newest] = await store.rows("select coalesce(max(id), 0) as id from inbox", []);
  const last = Number(newest!.id);
  const counted = { received: 0, answeredOrForwarded: 0, pending: 0 };
  for (let from = await idBefore(store, since, last); from < last; from += IDS_AT_ONCE) {
    const upTo = Math.min(last, from + IDS_AT_ONCE);
    const [row] = await store.rows(COUNT, [from, upTo, deviceId, since]);
    counted.received += Number(row!.received);
    counted.answeredOrForwarded += Number(row!.handled);
    counted.pending += Number(row!.pending);
  }
  return counted;
}

/** Ids rise with time: an id below all that came since. */
async function idBefore({ rows }: Pick<Store, "rows">, since: number, last: number): Promise<number> {
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const [row] = await rows("select received_at from inbox where id >= ? order by id limit 1", [middle]);
    if (row !== undefined && Number(row.received_at) < since) low = middle;
    else high = middle;
  }
  // The host's clock may have been set back in between.
  return Math.max(0, low - IDS_AT_ONCE);
}

const numberOrNull = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(value);
