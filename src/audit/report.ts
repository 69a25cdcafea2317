import { connections, missingMessages } from "../../drizzle/schema.ts";
import { defineQuery, integer, text } from "../store/query.ts";
import type { Reading } from "../store/store.ts";
import type { ConnectionFacts, MissingReason } from "../whatsapp/port.ts";
import { gapsIn } from "./gaps.ts";
import type { HourBook } from "./hours.ts";

export { MISSING_REASONS } from "../whatsapp/port.ts";

/** What may become of a message that was missing. */
export const MISSING_STATES = [
  /** It came after all. */
  "arrived",
  /** It was asked for and may come. */
  "asked",
  "lost",
  /** WhatsApp shows it on the phone alone. */
  "phone_only",
  /** Sent from this number by somebody else than this gateway, as far as it knows. */
  "unknown_send",
] as const;
type MissingState = (typeof MISSING_STATES)[number];

/** One message that is known to exist. Times are Unix milliseconds. */
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
  /** Incoming messages from others. */
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
const ROWS_AT_ONCE = 500;

const FACTS = {
  id: connections.id,
  openedAt: connections.openedAt,
  closedAt: connections.closedAt,
  code: connections.code,
  announced: connections.announced,
  arrived: connections.arrived,
};
const CONNECTIONS = defineQuery(
  `select id, opened_at, closed_at, code, announced, arrived from connections
    where device_id = ? and opened_at <= ? and (opened_at, id) > (?, ?) order by opened_at, id limit ?`,
  FACTS,
);
/** The one that was open when the time began, when it was one. */
const CONNECTION_BEFORE = defineQuery(
  `select id, opened_at, closed_at, code, announced, arrived from connections
    where device_id = ? and opened_at < ? order by opened_at desc, id desc limit 1`,
  FACTS,
);
const MISSING = defineQuery(
  `select rowid as place, chat, sender, wa_id, reason, noticed_at, resolved_at from missing_messages
    where device_id = ? and noticed_at >= ? and (noticed_at, rowid) < (?, ?) order by noticed_at desc, rowid desc limit ?`,
  {
    place: integer(),
    chat: missingMessages.chat,
    from: missingMessages.sender,
    id: missingMessages.waId,
    reason: text<MissingReason>(),
    noticedAt: missingMessages.noticedAt,
    resolvedAt: missingMessages.resolvedAt,
  },
);

/**
 * @param since,until Unix milliseconds
 * @throws StorageUnavailable
 */
export async function reportOn(
  store: Reading,
  hours: HourBook,
  deviceId: number,
  since: number,
  until: number,
): Promise<AuditReport> {
  const opened = await readConnections(store, deviceId, since, until);
  const { counts, newest } = await readMissing(store, deviceId, since, until);
  const counted = await hours.countSince(deviceId, since);
  const gaps = gapsIn(opened);
  // On a connection that has been open for a while nothing waits any more.
  const overdue = (opened.at(-1)?.openedAt ?? until) < until - ASKED_FOR_MS;
  const stillOpen = opened.at(-1)?.closedAt === null;
  const never = gaps.lost + (overdue && stillOpen ? gaps.awaited : 0);
  return {
    since,
    until,
    lost: (counts.lost ?? 0) + never,
    ...counted,
    awaited: (counts.asked ?? 0) + (gaps.lost + gaps.awaited - never),
    recovered: counts.arrived ?? 0,
    connections: opened.toReversed().slice(0, MOST_CONNECTIONS),
    missing: newest,
  };
}

/** Oldest first. */
async function readConnections(
  store: Reading,
  deviceId: number,
  since: number,
  until: number,
): Promise<ConnectionFacts[]> {
  const found: ConnectionFacts[] = [];
  const args = (last: { openedAt: number; id: number } | null): number[] => [
    deviceId,
    until,
    last?.openedAt ?? since,
    last?.id ?? -1,
  ];
  for await (const page of store.pages(CONNECTIONS, args, ROWS_AT_ONCE))
    found.push(...page.map(({ id: _id, ...facts }) => facts));
  const before = await store.readOne(CONNECTION_BEFORE, [deviceId, since]);
  if (before === null) return found;
  const { id: _id, ...facts } = before;
  // Without an end, and not the newest: the process died with it, long ago perhaps.
  const wasOpen = facts.closedAt === null ? found.length === 0 : facts.closedAt >= since;
  return wasOpen ? [facts, ...found] : found;
}

/** How many there are in each state, and the newest of them. */
async function readMissing(
  store: Reading,
  deviceId: number,
  since: number,
  until: number,
): Promise<{ counts: Partial<Record<MissingState, number>>; newest: MissingEntry[] }> {
  const counts: Partial<Record<MissingState, number>> = {};
  const newest: MissingEntry[] = [];
  const args = (last: { noticedAt: number; place: number } | null): number[] => [
    deviceId,
    since,
    last?.noticedAt ?? Number.MAX_SAFE_INTEGER,
    last?.place ?? 0,
  ];
  for await (const page of store.pages(MISSING, args, ROWS_AT_ONCE))
    for (const { place: _place, ...entry } of page) {
      const state = stateOf(entry.reason, entry.noticedAt, entry.resolvedAt, until);
      counts[state] = (counts[state] ?? 0) + 1;
      if (newest.length < MOST_MISSING) newest.push({ ...entry, state });
    }
  return { counts, newest };
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
