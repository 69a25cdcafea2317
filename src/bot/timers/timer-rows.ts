import { botTimers } from "../../../drizzle/schema.ts";
import type { Statement } from "../../model/statement.ts";
import { defineQuery, integer, nullable } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import { IN_SCOPE, keysOf, type Scope } from "../sessions/scope.ts";
import { timerContext } from "../sessions/sealed-for.ts";

/** What keys of Parley's own timers begin with. */
export const OWN_TIMERS = "dialogue:";
/** Keys of timers that Parley sets for dialogues. */
export const REMIND = `${OWN_TIMERS}remind`;
/** Key of the timer that ends a dialogue without an answer. */
export const EXPIRE = `${OWN_TIMERS}expire`;

/** Key of the timer that wakes a dialogue which sleeps. */
export const WAKE = `${OWN_TIMERS}wake`;
/** All timers of a dialogue that is under way. */
const OF_DIALOGUE = [REMIND, EXPIRE, WAKE];
/** What keys of flows begin with that another flow began beside itself. */
export const FLOW_TIMERS = "flow:";

/** What a timer needs to run: where, for whom, and what the bot gave it. */
export interface TimerBody {
  chat: string;
  chatKey: string;
  chatKind: string;
  sender: string;
  number: string | null;
  lid: string | null;
  pushName: string;
  participant: string | null;
  data: unknown;
  /** Unix milliseconds after which it does not run any more; missing: it runs however late. */
  expiresAt?: number;
}

/** A timer on its way into the table; `dueAt` is Unix milliseconds. */
export interface NewTimer {
  key: string;
  dueAt: number;
  body: TimerBody;
  /** Key of the chat for which it is held up; missing: it waits for its time alone. */
  heldIn?: string | null;
}

/** A timer whose time has come; `dueAt` is in Unix milliseconds. */
export interface DueTimer {
  id: number;
  deviceId: number;
  botId: string;
  key: string;
  dueAt: number;
  /** Null: the row does not open, and never will. */
  body: TimerBody | null;
}

/** The table `bot_timers`. What changes it is a statement for the message's own commit. */
export interface TimerRows {
  setTimer(deviceId: number, botId: string, scope: Scope, timer: NewTimer): Statement[];
  /** The timers of a dialogue: those that it had are gone, under whatever ids they are on their way to run. */
  setDialogueTimers(deviceId: number, botId: string, scope: Scope, timers: readonly NewTimer[]): Statement[];
  /** As `setTimer`, unless there is one already. */
  setTimerUnlessSet(deviceId: number, botId: string, scope: Scope, timer: NewTimer): Statement[];
  cancelTimer(deviceId: number, botId: string, scope: Scope, key: string): Statement[];
  /** The chat, under any of its keys, is free from then on: what was held up in it waits no longer. */
  releaseTimers(deviceId: number, chats: readonly string[], dueAt: number): Statement[];
  /** It is due then at the latest, when there is one. */
  hurryTimer(deviceId: number, botId: string, scope: Scope, key: string, dueAt: number): Statement[];
  /** Timers of a number that are due, oldest first. */
  dueTimers(deviceId: number, now: number, limit: number): Promise<DueTimer[]>;
  /** When the next timer of each number is due, Unix milliseconds; numbers without one are left out. */
  nextTimers(deviceIds: readonly number[]): Promise<Map<number, number>>;
}

const PUT_TIMER = `INSERT INTO bot_timers (device_id, bot_id, scope, key, body, due_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (device_id, bot_id, scope, key) DO UPDATE SET body = excluded.body, due_at = excluded.due_at, held_in = NULL`;
const PUT_UNLESS_SET = `INSERT INTO bot_timers (device_id, bot_id, scope, key, body, due_at, held_in) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?8
WHERE NOT EXISTS (SELECT 1 FROM bot_timers WHERE device_id = ?1 AND bot_id = ?2 AND scope IN (?3, ?7) AND key = ?4)`;
const RELEASE = `UPDATE bot_timers SET due_at = ? WHERE device_id = ? AND held_in IN (SELECT value FROM json_each(?))
AND due_at > ?`;
const DUE = defineQuery(
  `SELECT id, bot_id, scope, key, body, due_at FROM bot_timers
WHERE device_id = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?`,
  {
    id: botTimers.id,
    botId: botTimers.botId,
    scope: botTimers.scope,
    key: botTimers.key,
    body: botTimers.body,
    dueAt: botTimers.dueAt,
  },
);
const END_DIALOGUE = `DELETE FROM bot_timers WHERE ${IN_SCOPE} AND bot_id = ? AND key IN (?, ?, ?)`;
const HURRY = `UPDATE bot_timers SET due_at = ? WHERE ${IN_SCOPE} AND bot_id = ? AND key = ? AND due_at > ?`;
const NEXT = defineQuery(
  `SELECT value AS deviceId, (SELECT min(due_at) FROM bot_timers WHERE device_id = value) AS at
FROM json_each(?)`,
  { deviceId: integer(), at: nullable(botTimers.dueAt) },
);

/** @param onTimer told when a timer is stored, after its commit: whoever looks then finds it */
export function createTimerRows(
  { box, read }: Pick<Store, "box" | "read">,
  onTimer?: (deviceId: number, dueAt: number) => void,
): TimerRows {
  function put(deviceId: number, botId: string, scope: Scope, { key, dueAt, body }: NewTimer): Statement {
    const sealed = box.sealJson(body, timerContext(deviceId, botId, scope.key, key));
    return {
      sql: PUT_TIMER,
      args: [deviceId, botId, scope.key, key, sealed, dueAt],
      onCommitted: () => onTimer?.(deviceId, dueAt),
    };
  }

  return {
    setTimer: (deviceId, botId, scope, timer) => [
      ...cancelTimer(deviceId, botId, scope, timer.key),
      put(deviceId, botId, scope, timer),
    ],

    setDialogueTimers: (deviceId, botId, scope, timers) => [
      { sql: END_DIALOGUE, args: [deviceId, ...keysOf(scope), botId, ...OF_DIALOGUE] },
      ...timers.map((timer) => put(deviceId, botId, scope, timer)),
    ],

    setTimerUnlessSet(deviceId, botId, scope, { key, dueAt, body, heldIn = null }) {
      const sealed = box.sealJson(body, timerContext(deviceId, botId, scope.key, key));
      const args = [deviceId, botId, scope.key, key, sealed, dueAt, scope.alias ?? scope.key, heldIn];
      return [{ sql: PUT_UNLESS_SET, args, onCommitted: () => onTimer?.(deviceId, dueAt) }];
    },

    cancelTimer,

    releaseTimers: (deviceId, chats, dueAt) => [
      {
        sql: RELEASE,
        args: [dueAt, deviceId, JSON.stringify(chats), dueAt],
        onCommitted: () => onTimer?.(deviceId, dueAt),
      },
    ],

    hurryTimer: (deviceId, botId, scope, key, dueAt) => [
      {
        sql: HURRY,
        args: [dueAt, deviceId, ...keysOf(scope), botId, key, dueAt],
        onCommitted: () => onTimer?.(deviceId, dueAt),
      },
    ],

    async dueTimers(deviceId, now, limit) {
      const due = await read(DUE, [deviceId, now, limit]);
      return due.map(({ id, botId, scope, key, body, dueAt }) => {
        const timer = { id, deviceId, botId, key, dueAt };
        try {
          const context = timerContext(deviceId, botId, scope, key);
          return { ...timer, body: box.openJson<TimerBody>(body, context) };
        } catch {
          return { ...timer, body: null };
        }
      });
    },

    async nextTimers(deviceIds) {
      const found = await read(NEXT, [JSON.stringify(deviceIds)]);
      return new Map(found.flatMap(({ deviceId, at }) => (at === null ? [] : [[deviceId, at]])));
    },
  };
}

function cancelTimer(deviceId: number, botId: string, scope: Scope, key: string): Statement[] {
  return [
    {
      sql: `DELETE FROM bot_timers WHERE ${IN_SCOPE} AND bot_id = ? AND key = ?`,
      args: [deviceId, ...keysOf(scope), botId, key],
    },
  ];
}
