import { performance } from "node:perf_hooks";
import type { Logger } from "../log.ts";
import type { Statement, Store } from "./store.ts";

const LOOK_MS = 1_000;
const NOTE_MS = 60_000;
/** What time servers correct at once on a machine that runs; more is somebody's hand, or a machine that was away. */
const JUMP_MS = 30_000;
const ROW = "clock";

/** Points in time that something waits for. */
const DEADLINES = [
  { table: "deliveries", column: "next_at" },
  { table: "chat_state", column: "takeover_until" },
  { table: "chat_state", column: "muted_until" },
  { table: "chat_state", column: "held_until" },
  { table: "webhooks", column: "paused_until" },
];

export interface ClockWatch {
  /** Compares with the last run, then looks every second. */
  start(): Promise<void>;
  /** Notes the time for the next start. */
  stop(): Promise<void>;
}

/**
 * Notices that the clock was set. Set back by a day, what is due in five seconds would come in a day and five seconds: such
 * deadlines move along. Set forward nothing is done, because that is also what waking up from sleep looks like.
 */
export function watchClock(store: Pick<Store, "rows" | "writer" | "now">, log: Logger): ClockWatch {
  let timer: NodeJS.Timeout | undefined;
  let offset = 0;
  let notedAt = 0;

  const offsetNow = (): number => store.now() - performance.now();

  async function setBack(ms: number): Promise<void> {
    log.warn(
      { seconds: Math.round(ms / 1_000) },
      "the clock was set back; what waits for a time waits no longer for it",
    );
    await store.writer.commit(DEADLINES.map((deadline) => moveBack(deadline, ms, store.now())));
  }

  async function note(): Promise<void> {
    notedAt = performance.now();
    await store.writer.commit([
      {
        sql: "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        args: [ROW, String(store.now())],
      },
    ]);
  }

  async function look(): Promise<void> {
    const moved = offsetNow() - offset;
    if (Math.abs(moved) >= JUMP_MS) offset += moved;
    if (moved <= -JUMP_MS) await setBack(-moved);
    else if (moved >= JUMP_MS)
      log.warn({ seconds: Math.round(moved / 1_000) }, "the clock was set forward, or the machine slept");
    // A clock that is slowed down or sped up little by little was not set.
    else offset = offsetNow();
    if (Math.abs(moved) >= JUMP_MS || performance.now() - notedAt >= NOTE_MS) await note();
  }

  const forgive = (work: Promise<void>): Promise<void> =>
    work.catch((err: unknown) => log.warn({ err }, "the time could not be noted"));

  return {
    async start() {
      offset = offsetNow();
      const [row] = await store.rows("SELECT value FROM meta WHERE key = ?", [ROW]);
      const ahead = Number(row?.value ?? 0) - store.now();
      if (ahead >= JUMP_MS) await forgive(setBack(ahead));
      await forgive(note());
      timer = setInterval(() => void forgive(look()), LOOK_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await forgive(note());
    },
  };
}

/** Only what lies further ahead than the clock now says it could: the rest was set since. */
function moveBack({ table, column }: (typeof DEADLINES)[number], ms: number, now: number): Statement {
  return {
    sql: `UPDATE ${table} SET ${column} = ${column} - ? WHERE ${column} > ?`,
    args: [ms, now + ms / 2],
  };
}
