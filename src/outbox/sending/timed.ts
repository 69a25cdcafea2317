import type { Row } from "@libsql/client";
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
  /** Other nodes store rows for the number. */
  isShared: boolean;
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
/** Longer waits are made of several: a timer of Node takes at most 24 days, and one that is longer ends at once. */
const LONGEST_WAIT_MS = DAY_MS;
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
// What waited for its time gets its place in the queue now: a queue is in the order of its keys. And it is no answer because
// it once was one: the chat as it is now says so.
const QUEUE = `UPDATE outbox SET id = (SELECT seq FROM sqlite_sequence WHERE name = 'outbox') + 1 + due.key,
state = 'queued', scheduled_at = created_at, created_at = max(?1, created_at),
is_reply = coalesce((SELECT last_incoming_at > ?2 FROM chat_state c
  WHERE c.device_id = outbox.device_id AND c.chat = outbox.chat), 0)
FROM json_each(?3) AS due WHERE outbox.id = due.value AND outbox.state = 'scheduled' RETURNING id, wa_id, is_reply`;
// No later row gets a key that was given here, even if its row is deleted.
const KEYS_GIVEN = "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'outbox'";
const LAST_QUEUED = "SELECT max(id) AS id FROM outbox WHERE device_id = ? AND state = 'queued'";

/** Calls when the next time has come, and each second after it until there is another next time. */
function createWatch(
  { time, now, clock }: Pick<TimedDeps["store"], "time" | "now" | "clock">,
  come: () => void,
): { next(): number | null; waitFor(at: number | null): void; stop(): void } {
  let next: number | null = null;
  /** Looks again and again: the clock may be set, or be doubted when the time comes. */
  let ticking: Cancel | null = null;
  let waking: Cancel | null = null;
  let stopped = false;

  function waitFor(at: number | null): void {
    next = at;
    waking?.();
    waking = null;
    if (at === null || stopped) {
      ticking?.();
      ticking = null;
      return;
    }
    ticking ??= time.every(LOOK_MS, tick);
    const ms = at - now();
    // What is late is being sent right now: it is looked at again, but not at once.
    waking = time.after(ms > 0 ? Math.min(ms, LONGEST_WAIT_MS) : LOOK_MS, wake);
  }

  function wake(): void {
    if (next !== null && now() < next) waitFor(next);
    else tick();
  }

  function tick(): void {
    if (next !== null && now() >= next && clock.isTrusted()) come();
  }

  return {
    next: () => next,
    waitFor,
    stop() {
      stopped = true;
      waitFor(null);
    },
  };
}

type Due = ReturnType<typeof DUE.decode>[number];

/**
 * Gives due messages their places in the queue, in their order.
 *
 * @returns those that were not taken back meanwhile
 */
async function moveIntoQueue(
  { deviceId, store, isShared }: Pick<TimedDeps, "deviceId" | "store" | "isShared">,
  due: Due[],
): Promise<StoredMessage[]> {
  const at = store.now();
  const ids = JSON.stringify(due.map(({ id }) => id));
  const last: Statement = { sql: LAST_QUEUED, args: [deviceId] };
  const queue: Statement = { sql: QUEUE, args: [at, at - REPLY_WINDOW_MS, ids] };
  const given: Statement = { sql: KEYS_GIVEN, args: [due.length] };
  failpoint("before-due-commit");
  const [queued, moved] = await store.writer.commit([last, queue, given], { owning: deviceId });
  failpoint("after-due-commit");
  const places = new Map(moved!.rows.map((row) => [String(row["wa_id"]), row]));
  let before = isShared ? idIn(queued!.rows[0]) : null;
  return due.flatMap((one) => {
    const place = places.get(one.waId);
    if (place === undefined) return [];
    const id = Number(place["id"]);
    const isReply = Number(place["is_reply"]) === 1;
    const message = takenOver({ ...one, id, deviceId, isReply, createdAt: at, before });
    if (isShared) before = id;
    return [message];
  });
}

const idIn = (row: Row | undefined): number | null => (row?.["id"] == null ? null : Number(row["id"]));

/** What waits for its time of one number. A clock that is doubted makes nothing due. */
export function createTimed(deps: TimedDeps): Timed {
  const { deviceId, store, log, sender, endings } = deps;
  const watch = createWatch(store, () => void work());
  let running = false;
  let stopped = false;

  async function work(): Promise<void> {
    if (running || stopped) return;
    running = true;
    try {
      while ((await queueDue()) === AT_ONCE);
      await expire();
      const found = await store.readOne(NEXT, [deviceId]);
      watch.waitFor(found?.at ?? null);
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
    const messages = await moveIntoQueue(deps, due);
    for (const { waId } of messages) deps.changed(deviceId, waId);
    deps.queued(messages);
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
      if (times.length > 0) watch.waitFor(Math.min(...times, watch.next() ?? Infinity));
    },
    stop() {
      stopped = true;
      watch.stop();
    },
  };
}
