import { botTimers } from "../../../drizzle/schema.ts";
import type { Statement } from "../../model/statement.ts";
import { DAY_MS } from "../../model/time.ts";
import { defineQuery } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import { IN_SCOPE, keysOf, type Scope } from "../sessions/scope.ts";
import { timerContext } from "../sessions/sealed-for.ts";
import { FLOW_TIMERS, OWN_TIMERS } from "./timer-rows.ts";

/** What keys of signals begin with; the key of the flow's timer follows, and a number of the signal's own. */
const SIGNALS = `${OWN_TIMERS}sent:`;
/** Stands between the two, and the sign after it: the range of all signals to one flow. */
const BETWEEN = "\u001F";
const AFTER = "\u0020";
/** More that nobody waits for are forgotten, oldest first. */
export const MOST_SIGNALS = 100;
/** What nobody has taken in this time was for a flow that had ended. */
const KEPT_MS = 30 * DAY_MS;

/** A signal on its way to a flow. */
export interface NewSignal {
  /** Keys of the timer that holds the flow: today's, and those that it had before. */
  to: readonly string[];
  /** Tells it from others to the same flow; begins with a digit. */
  id: string;
  signal: unknown;
}

/**
 * What flows have sent to flows beside them, in rows of their own: a flow whose timer is on its way to run has no row that a
 * signal could be put into. It takes them when it runs, in the lane of its chat, as does whoever sends: neither overtakes the other.
 * They stand in the table `bot_timers`; their time is when they are given up.
 */
export interface SignalRows {
  /** Where no such flow waits or is on its way, nothing is kept. */
  putSignal(deviceId: number, botId: string, scope: Scope, signal: NewSignal): Statement[];
  /** What was sent to a flow, under whichever of its keys, oldest first. */
  signals(deviceId: number, botId: string, scope: Scope, to: readonly string[]): Promise<unknown[]>;
  /** Taken, or for a flow that is no more. */
  forgetSignals(deviceId: number, botId: string, scope: Scope, to: readonly string[]): Statement[];
  /** The time of a signal's row has come: it goes, unless the flow may still be held up somewhere. */
  giveUpSignal(timerId: number): Statement[];
}

const OF_BOT = `${IN_SCOPE} AND bot_id = ?`;
const TO_ONE = `${OF_BOT} AND key > ? AND key < ?`;
/** A number with so many messages before it may have a timer among them: that is not looked for. */
const MOST_LOOKED_AT = 200;
const PUT = `INSERT INTO bot_timers (device_id, bot_id, scope, key, body, due_at) SELECT ?1, ?2, ?3, ?4, ?5, ?6
WHERE EXISTS (SELECT 1 FROM bot_timers WHERE device_id = ?1 AND bot_id = ?2 AND scope IN (?3, ?7)
AND key IN (SELECT value FROM json_each(?8)))
OR (SELECT count(*) = ${MOST_LOOKED_AT} OR sum(type = 'timer') > 0
FROM (SELECT type FROM inbox WHERE device_id = ?1 AND state = 'pending' LIMIT ${MOST_LOOKED_AT}))
ON CONFLICT (device_id, bot_id, scope, key) DO UPDATE SET body = excluded.body, due_at = excluded.due_at`;
const SENT = defineQuery(
  `SELECT scope, key, body FROM bot_timers WHERE ${TO_ONE} ORDER BY id LIMIT ${MOST_SIGNALS}`,
  { scope: botTimers.scope, key: botTimers.key, body: botTimers.body },
);
const TOO_MANY = `DELETE FROM bot_timers WHERE id IN
(SELECT id FROM bot_timers WHERE ${TO_ONE} ORDER BY id DESC LIMIT -1 OFFSET ${MOST_SIGNALS})`;
// Behind a person who has the chat for months, or in the inbox of a number that was away for as long.
const STILL_HELD = `UPDATE bot_timers SET due_at = ?1 WHERE id = ?2 AND (EXISTS (SELECT 1 FROM bot_timers f
WHERE f.device_id = bot_timers.device_id AND f.bot_id = bot_timers.bot_id AND f.scope = bot_timers.scope
AND f.key > '${FLOW_TIMERS}' AND f.key < '${FLOW_TIMERS.replace(":", ";")}')
OR EXISTS (SELECT 1 FROM inbox i WHERE i.device_id = bot_timers.device_id AND i.state = 'pending' AND i.type = 'timer'))`;

/** Whether a row of `bot_timers` is a signal. */
export const isSignal = (key: string): boolean => key.startsWith(SIGNALS);

/** Rows of signals in the table of timers. */
export function createSignalRows({ box, read, now }: Pick<Store, "box" | "read" | "now">): SignalRows {
  return {
    putSignal(deviceId, botId, scope, { to, id, signal }) {
      const [begin, end] = rangeOf(to[0]!);
      const key = `${begin}${id}`;
      const alias = scope.alias ?? scope.key;
      const sealed = box.sealJson(signal, timerContext(deviceId, botId, scope.key, key));
      return [
        {
          sql: PUT,
          args: [deviceId, botId, scope.key, key, sealed, now() + KEPT_MS, alias, JSON.stringify(to)],
        },
        { sql: TOO_MANY, args: [deviceId, ...keysOf(scope), botId, begin, end] },
      ];
    },

    async signals(deviceId, botId, scope, to) {
      const found: unknown[] = [];
      for (const one of to) {
        const args = [deviceId, ...keysOf(scope), botId, ...rangeOf(one)];
        for (const { scope: under, key, body } of await read(SENT, args)) {
          try {
            found.push(box.openJson(body, timerContext(deviceId, botId, under, key)));
          } catch {
            // One that does not open must not keep the flow from going on.
          }
        }
      }
      return found;
    },

    forgetSignals: (deviceId, botId, scope, to) =>
      to.map((one) => ({
        sql: `DELETE FROM bot_timers WHERE ${TO_ONE}`,
        args: [deviceId, ...keysOf(scope), botId, ...rangeOf(one)],
      })),

    giveUpSignal: (timerId) => [
      { sql: STILL_HELD, args: [now() + KEPT_MS, timerId] },
      { sql: "DELETE FROM bot_timers WHERE id = ? AND due_at <= ?", args: [timerId, now()] },
    ],
  };
}

const rangeOf = (to: string): [begin: string, end: string] => [
  `${SIGNALS}${to}${BETWEEN}`,
  `${SIGNALS}${to}${AFTER}`,
];
