import type { Logger } from "../../log.ts";
import { devices, outbox } from "../../../drizzle/schema.ts";
import type { Draft } from "../../model/content/drafts.ts";
import { failpoint } from "../../model/failpoint.ts";
import { DAY_MS, SECOND_MS, type Cancel } from "../../model/time.ts";
import { defineQuery, integer, nullable } from "../../store/query.ts";
import { isWorthLogging } from "../../store/write/owned.ts";
import type { Statement, Store } from "../../store/store.ts";
import { EXPIRED, type Endings } from "./endings.ts";
import { takenOver, type StoredMessage } from "./queued.ts";
import type { Sender } from "./sender.ts";

interface TimedDeps {
  deviceId: number;
  store: Pick<Store, "read" | "readOne" | "writer" | "time" | "clock" | "now">;
  log: Logger;
  /** Messages whose time has come are queued: they leave. */
  queued(messages: StoredMessage[]): void;
  /** Looks for what is queued in the table alone: a commit may have been made although nobody heard of it. */
  reload(): Promise<void>;
  /** The number is linked no more: what is queued fails. */
  abandon(): Promise<void>;
  sender: Pick<Sender, "find" | "take">;
  endings: Pick<Endings, "all">;
  /** The row of a message says something new. */
  changed(deviceId: number, waId: string): void;
}

/** What of a number's messages waits for a time: those that are to be sent later, and those that become too late. */
export interface Timed {
  /** Looks what waits, and begins to look at the clock. Never rejects. */
  look(): Promise<void>;
  /** One of these was stored. */
  stored(drafts: Draft[]): void;
  stop(): void;
}

const LOOK_MS = SECOND_MS;
/** Few enough that nobody notices the commit: ten thousand that are due at once are queued within two seconds. */
const AT_ONCE = 200;
/** How old a chat's last message may be for what is sent to be a reply. */
const REPLY_WINDOW_MS = DAY_MS;
/** A number in one of these has no phone any more. */
const NOT_LINKED_STATES = new Set(["unlinked", "logged_out", "blocked"]);

const NEXT = defineQuery(
  `SELECT min(at) AS at FROM (
  SELECT min(send_at) AS at FROM outbox INDEXED BY outbox_scheduled WHERE device_id = ?1 AND state = 'scheduled'
  UNION ALL
  SELECT min(not_after) AS at FROM outbox INDEXED BY outbox_not_after
  WHERE device_id = ?1 AND state = 'queued' AND not_after IS NOT NULL)`,
  { at: nullable(integer()) },
);
const DUE = defineQuery(
  `SELECT id, wa_id, chat, jid, origin FROM outbox INDEXED BY outbox_scheduled
WHERE device_id = ? AND state = 'scheduled' AND send_at <= ? ORDER BY send_at, id LIMIT ${AT_ONCE}`,
  { id: outbox.id, waId: outbox.waId, chat: outbox.chat, jid: outbox.jid, origin: outbox.origin },
);
const TOO_LATE = defineQuery(
  `SELECT wa_id FROM outbox INDEXED BY outbox_not_after
WHERE device_id = ? AND state = 'queued' AND not_after IS NOT NULL AND not_after < ? ORDER BY not_after LIMIT ${AT_ONCE}`,
  { waId: outbox.waId },
);
const STATE = defineQuery("SELECT state FROM devices WHERE id = ?", { state: devices.state });
// What waited for its time is no answer because it once was one: the chat as it is now says so.
const QUEUE = `UPDATE outbox SET state = 'queued', scheduled_at = created_at, created_at = max(?1, created_at),
is_reply = coalesce((SELECT last_incoming_at > ?2 FROM chat_state c
  WHERE c.device_id = outbox.device_id AND c.chat = outbox.chat), 0)
WHERE id IN (SELECT value FROM json_each(?3)) AND state = 'scheduled' RETURNING id, is_reply`;

/** What waits for its time of one number. A clock that is doubted makes nothing due. */
export function createTimed(deps: TimedDeps): Timed {
  const { deviceId, store, log, sender, endings } = deps;
  /** The next time that something waits for; null: nothing does. */
  let next: number | null = null;
  let ticking: Cancel | null = null;
  let running = false;
  let stopped = false;

  function waitFor(at: number | null): void {
    next = at;
    if (at === null) {
      ticking?.();
      ticking = null;
    } else if (!stopped) ticking ??= store.time.every(LOOK_MS, tick);
  }

  function tick(): void {
    if (next !== null && store.now() >= next && store.clock.isTrusted()) void work();
  }

  async function work(): Promise<void> {
    if (running || stopped) return;
    running = true;
    try {
      while ((await queueDue()) === AT_ONCE);
      await expire();
      const found = await store.readOne(NEXT, [deviceId]);
      waitFor(found?.at ?? null);
    } catch (error) {
      // The next look finds it again.
      if (isWorthLogging(error)) log.error({ err: error, device: deviceId }, "could not queue what was due");
      void deps.reload();
    } finally {
      running = false;
    }
  }

  /** @returns how many */
  async function queueDue(): Promise<number> {
    const due = stopped ? [] : await store.read(DUE, [deviceId, store.now()]);
    if (due.length === 0) return 0;
    const at = store.now();
    const ids = JSON.stringify(due.map(({ id }) => id));
    const queue: Statement = { sql: QUEUE, args: [at, at - REPLY_WINDOW_MS, ids] };
    failpoint("before-due-commit");
    const [result] = await store.writer.commit([queue], { owning: deviceId });
    failpoint("after-due-commit");
    const replies = new Map(result!.rows.map((row) => [Number(row["id"]), Number(row["is_reply"]) === 1]));
    const queued = due.filter(({ id }) => replies.has(id));
    for (const { waId } of queued) deps.changed(deviceId, waId);
    deps.queued(
      queued.map((row) => takenOver({ ...row, deviceId, isReply: replies.get(row.id)!, createdAt: at })),
    );
    const device = await store.readOne(STATE, [deviceId]);
    if (device !== null && NOT_LINKED_STATES.has(device.state)) await deps.abandon();
    return due.length;
  }

  /** What is being sent right now is let go. */
  async function expire(): Promise<void> {
    const late = await store.read(TOO_LATE, [deviceId, store.now()]);
    const messages = late.flatMap(({ waId }) => {
      const message = sender.find(waId);
      return message !== undefined && sender.take(message) ? [message] : [];
    });
    await endings.all(messages, "expired", EXPIRED);
  }

  return {
    look: work,
    stored(drafts) {
      const times = drafts.flatMap(({ sendAt, notAfter }) => sendAt ?? notAfter ?? []);
      if (times.length > 0) waitFor(Math.min(...times, next ?? Infinity));
    },
    stop() {
      stopped = true;
      waitFor(null);
    },
  };
}
