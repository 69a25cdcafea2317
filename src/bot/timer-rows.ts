import { botTimers } from "../../drizzle/schema.ts";
import type { Statement } from "../model/statement.ts";
import { defineQuery, integer, nullable } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { IN_SCOPE, keysOf, type Scope } from "./scope.ts";

/** What keys of Parley's own timers begin with. */
export const OWN_TIMERS = "dialogue:";
/** Keys of timers that Parley sets for dialogues. */
export const REMIND = `${OWN_TIMERS}remind`;
/** Key of the timer that ends a dialogue without an answer. */
export const EXPIRE = `${OWN_TIMERS}expire`;

/** Key of the timer that wakes a dialogue which sleeps. */
export const WAKE = `${OWN_TIMERS}wake`;
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
}

/** A timer on its way into the table; `dueAt` is Unix milliseconds. */
export interface NewTimer {
  key: string;
  dueAt: number;
  body: TimerBody;
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
  /** As `setTimer`, unless the bot has set it anew meanwhile. */
  postponeTimer(deviceId: number, botId: string, scope: Scope, timer: NewTimer): Statement[];
  cancelTimer(deviceId: number, botId: string, scope: Scope, key: string): Statement[];
  /** What a timer that is not due yet was set with; null when there is none. */
  timer(deviceId: number, botId: string, scope: Scope, key: string): Promise<TimerBody | null>;
  /** Timers of a number that are due, oldest first. */
  dueTimers(deviceId: number, now: number, limit: number): Promise<DueTimer[]>;
  /** When the next timer of each number is due, Unix milliseconds; numbers without one are left out. */
  nextTimers(deviceIds: readonly number[]): Promise<Map<number, number>>;
}

const PUT_TIMER = `INSERT INTO bot_timers (device_id, bot_id, scope, key, body, due_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (device_id, bot_id, scope, key) DO UPDATE SET body = excluded.body, due_at = excluded.due_at`;
const POSTPONE = `INSERT INTO bot_timers (device_id, bot_id, scope, key, body, due_at) SELECT ?1, ?2, ?3, ?4, ?5, ?6
WHERE NOT EXISTS (SELECT 1 FROM bot_timers WHERE device_id = ?1 AND bot_id = ?2 AND scope IN (?3, ?7) AND key = ?4)`;
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
const ONE = defineQuery(
  `SELECT scope, body FROM bot_timers WHERE ${IN_SCOPE} AND bot_id = ? AND key = ? LIMIT 1`,
  { scope: botTimers.scope, body: botTimers.body },
);
const NEXT = defineQuery(
  `SELECT value AS deviceId, (SELECT min(due_at) FROM bot_timers WHERE device_id = value) AS at
FROM json_each(?)`,
  { deviceId: integer(), at: nullable(botTimers.dueAt) },
);

/** @param onTimer told when a timer is about to be stored */
export function createTimerRows(
  { box, read, readOne }: Pick<Store, "box" | "read" | "readOne">,
  onTimer?: (deviceId: number, dueAt: number) => void,
): TimerRows {
  return {
    setTimer(deviceId, botId, scope, { key, dueAt, body }) {
      onTimer?.(deviceId, dueAt);
      const sealed = box.sealJson(body, sealContext(deviceId, botId, scope.key, key));
      return [
        ...cancelTimer(deviceId, botId, scope, key),
        { sql: PUT_TIMER, args: [deviceId, botId, scope.key, key, sealed, dueAt] },
      ];
    },

    postponeTimer(deviceId, botId, scope, { key, dueAt, body }) {
      onTimer?.(deviceId, dueAt);
      const sealed = box.sealJson(body, sealContext(deviceId, botId, scope.key, key));
      const args = [deviceId, botId, scope.key, key, sealed, dueAt, scope.alias ?? scope.key];
      return [{ sql: POSTPONE, args }];
    },

    cancelTimer,

    async timer(deviceId, botId, scope, key) {
      const row = await readOne(ONE, [deviceId, ...keysOf(scope), botId, key]);
      return row === null
        ? null
        : box.openJson<TimerBody>(row.body, sealContext(deviceId, botId, row.scope, key));
    },

    async dueTimers(deviceId, now, limit) {
      const due = await read(DUE, [deviceId, now, limit]);
      return due.map(({ id, botId, scope, key, body, dueAt }) => {
        const timer = { id, deviceId, botId, key, dueAt };
        try {
          const context = sealContext(deviceId, botId, scope, key);
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

const sealContext = (deviceId: number, botId: string, scope: string, key: string): string =>
  `bot_timer:${deviceId}:${botId}:${scope}:${key}`;

function cancelTimer(deviceId: number, botId: string, scope: Scope, key: string): Statement[] {
  return [
    {
      sql: `DELETE FROM bot_timers WHERE ${IN_SCOPE} AND bot_id = ? AND key = ?`,
      args: [deviceId, ...keysOf(scope), botId, key],
    },
  ];
}
