import { meta } from "../../drizzle/schema.ts";
import type { Logger } from "../log.ts";
import { alone } from "../model/nodes/alone.ts";
import type { Ownership } from "../model/nodes/cluster.ts";
import { giveWay } from "../model/give-way.ts";
import type { Statement } from "../model/statement.ts";
import { MINUTE_MS, SECOND_MS, type Cancel } from "../model/time.ts";
import { LARGEST_BELIEVED_JUMP_MS } from "./clock-trust.ts";
import { defineQuery, integer, nullable } from "./query.ts";
import type { Store } from "./store.ts";

const LOOK_MS = SECOND_MS;
const NOTE_MS = MINUTE_MS;
/** What time servers correct at once on a machine that runs; more is somebody's hand, or a machine that was away. */
const JUMP_MS = 30 * SECOND_MS;
const ROWS_AT_ONCE = 500;
/** Of the nodes, who has this number's partition. */
const LEADER = 0;

const NOTED_TIME = "clock";
/** Milliseconds of running on a clock that is doubted; no row when it is trusted. */
const NOTED_DOUBT = "clock_doubted";

/** Points in time that something waits for. A test asks of every time in the schema whether it is one of these. */
export const DEADLINES: readonly { table: string; column: string }[] = [
  { table: "deliveries", column: "next_at" },
  { table: "chat_state", column: "takeover_until" },
  { table: "chat_state", column: "muted_until" },
  { table: "chat_state", column: "held_until" },
  { table: "webhooks", column: "paused_until" },
  { table: "webhooks", column: "old_secret_until" },
  { table: "listeners", column: "paused_until" },
  { table: "listeners", column: "old_secret_until" },
  { table: "reachout_locks", column: "until" },
  { table: "send_brakes", column: "until" },
  { table: "bot_sessions", column: "expires_at" },
  { table: "bot_dialogues", column: "expires_at" },
  { table: "bot_timers", column: "due_at" },
  { table: "bot_store", column: "expires_at" },
  { table: "sessions", column: "ends_at" },
  { table: "links", column: "expires_at" },
  // What was done in the last hour makes the next one wait.
  { table: "allowance_uses", column: "used_at" },
];

const NOTED = defineQuery("SELECT value FROM meta WHERE key = ?", { value: meta.value });
const PAGES = new Map(
  [...new Set(DEADLINES.map(({ table }) => table))].map((table) => [
    table,
    defineQuery(
      `SELECT max(place) AS last, count(*) AS n FROM
        (SELECT rowid AS place FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${ROWS_AT_ONCE})`,
      { last: nullable(integer()), n: integer() },
    ),
  ]),
);

/** Looks after the host's clock. */
export interface ClockWatch {
  /** Compares with the last run, then looks every second. */
  start(): Promise<void>;
  /** Notes the time for the next start. */
  stop(): Promise<void>;
}

/**
 * Notices that the clock was set. Set back by a day, what is due in five seconds would come in a day and five seconds: such
 * deadlines move along, in the database and by `onClockMoved` in memory. Set forward nothing moves, because that is also
 * what waking up from sleep looks like; but ahead by more than a day it is not trusted with deleting what is old.
 *
 * Among several nodes that is the database's clock, which all of them follow: each moves what it remembers, and one of them,
 * the owner of partition 0, moves what is in the database and notes the time.
 *
 * @param onClockMoved told by how many milliseconds the clock was set back, when the database has followed
 * @param ownership    who leads; default: this process
 */
export function watchClock(
  store: Pick<Store, "readOne" | "writer" | "time" | "clock">,
  log: Logger,
  onClockMoved: (ms: number) => void = () => undefined,
  ownership: Pick<Ownership, "owns"> = alone().ownership,
): ClockWatch {
  const { time, clock } = store;
  let end: Cancel | null = null;
  let offset = 0;
  let lookedAt = 0;
  let notedAt = 0;
  /** Has compared with what was noted since it leads. */
  let compared = false;

  const leads = (): boolean => ownership.owns(LEADER);
  const offsetNow = (): number => time.now() - time.monotonic();

  async function setBack(ms: number): Promise<void> {
    if (leads()) await moveDeadlines(store, ms, time.now());
    onClockMoved(ms);
    log.warn(
      { seconds: Math.round(ms / SECOND_MS) },
      "the clock was set back; waiting work keeps its remaining time",
    );
  }

  function setForward(ms: number): void {
    log.warn({ seconds: Math.round(ms / SECOND_MS) }, "the clock was set forward, or the machine slept");
    if (ms > LARGEST_BELIEVED_JUMP_MS) clock.doubt();
  }

  async function note(): Promise<void> {
    notedAt = time.monotonic();
    if (leads()) await store.writer.commit(notes(time.now(), clock.doubtedFor()), { owning: LEADER });
  }

  async function look(): Promise<void> {
    if (!leads()) compared = false;
    else if (!compared) await compareWithLastRun();
    const moved = offsetNow() - offset;
    if (Math.abs(moved) >= JUMP_MS) offset += moved;
    if (moved >= JUMP_MS) setForward(moved);
    clock.passed(time.monotonic() - lookedAt);
    lookedAt = time.monotonic();
    if (moved <= -JUMP_MS) await setBack(-moved);
    // A clock that is slowed down or sped up little by little was not set.
    else if (moved < JUMP_MS) offset = offsetNow();
    if (Math.abs(moved) >= JUMP_MS || time.monotonic() - notedAt >= NOTE_MS) await note();
  }

  const forgive = (work: Promise<void>): Promise<void> =>
    work.catch((err: unknown) => log.warn({ err }, "could not store the time"));

  /** Whoever begins to lead may have to end what the one before had no time for. */
  async function compareWithLastRun(): Promise<void> {
    compared = leads();
    const noted = await readNotes(store);
    if (noted === null) return;
    const ahead = noted.at - time.now();
    if (noted.doubtedFor !== null) clock.doubt(noted.doubtedFor);
    else if (-ahead > LARGEST_BELIEVED_JUMP_MS) clock.doubt();
    if (compared && ahead >= JUMP_MS) await forgive(setBack(ahead));
  }

  return {
    async start() {
      offset = offsetNow();
      lookedAt = time.monotonic();
      await compareWithLastRun();
      clock.passed(0);
      await forgive(note());
      end = time.every(LOOK_MS, () => void forgive(look()));
    },
    async stop() {
      end?.();
      // Set a moment ago, it would be noted as if it had always been so.
      await forgive(look().then(note));
    },
  };
}

/** @returns null before the first note */
async function readNotes({
  readOne,
}: Pick<Store, "readOne">): Promise<{ at: number; doubtedFor: number | null } | null> {
  const at = await readOne(NOTED, [NOTED_TIME]);
  const doubted = await readOne(NOTED, [NOTED_DOUBT]);
  return at && { at: Number(at.value), doubtedFor: doubted && Number(doubted.value) };
}

/** @param doubted see `NOTED_DOUBT`; null when the clock is trusted */
const notes = (now: number, doubted: number | null): Statement[] => [
  keep(NOTED_TIME, now),
  doubted === null
    ? { sql: "DELETE FROM meta WHERE key = ?", args: [NOTED_DOUBT] }
    : keep(NOTED_DOUBT, Math.round(doubted)),
];

const keep = (key: string, value: number): Statement => ({
  sql: "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  args: [key, String(value)],
});

/** Only what lies further ahead than the clock now says it could: the rest was set since. A few rows in each commit. */
async function moveDeadlines(
  { readOne, writer }: Pick<Store, "readOne" | "writer">,
  ms: number,
  now: number,
): Promise<void> {
  for (const [table, page] of PAGES) {
    const columns = DEADLINES.filter((deadline) => deadline.table === table).map(({ column }) => column);
    for (let from = 0; ; await giveWay()) {
      const some = await readOne(page, [from]);
      if (some === null || some.last === null) break;
      const upTo = some.last;
      await writer.commit(
        columns.map((column) => ({
          sql: `UPDATE ${table} SET ${column} = ${column} - ? WHERE rowid > ? AND rowid <= ? AND ${column} > ?`,
          args: [ms, from, upTo, now + ms / 2],
        })),
        { owning: LEADER },
      );
      if (some.n < ROWS_AT_ONCE) break;
      from = upTo;
    }
  }
}
