import { randomBytes } from "node:crypto";
import { meta } from "../../drizzle/schema.ts";
import { defineQuery } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import type { AlertRecord, Condition } from "./alert.ts";

/**
 * What is remembered of an alert, as JSON in `meta`: under `alert.due:<key>` while somebody is to be told of its beginning or
 * its end, under `alert.told:<key>` while it is open and was told.
 */
interface Kept extends Condition {
  id: string;
  /** When Parley noticed it: too long after that it is told no more. */
  raised: number;
  until?: number;
  /** Of its end, when that differs from the text of its beginning. */
  overText?: string;
  /** Its beginning was told. */
  told?: 1;
  /** Not told before this time. */
  notBefore?: number;
  /** How often it came together. */
  times?: number;
}

/** An alert that somebody is to be told of. */
export interface DueAlert {
  key: string;
  raised: number;
  record: AlertRecord;
}

/** What was told, and what is to be told. Any process may write it; each statement holds whatever another has written meanwhile. */
export interface Ledger {
  /** Keys of what is open or to be told. */
  keys(): Promise<Set<string>>;
  /** It holds. Nothing changes when it is known. */
  raise(key: string, condition: Condition, more?: Pick<Kept, "notBefore" | "times" | "until">): Promise<void>;
  /** It holds no longer. Nothing changes when it is not known. @param text for the end */
  clear(key: string, at: number, text?: string): Promise<void>;
  /** What is to be told now, at most `limit`. */
  due(now: number, limit: number): Promise<DueAlert[]>;
  /** These were told as they are given here, or are given up. */
  settle(alerts: readonly DueAlert[]): Promise<void>;
  /** Open, told or not, at most `limit`. */
  open(limit: number): Promise<AlertRecord[]>;
  /** When something under this key was told last and how often it had come; null: never. */
  last(key: string): Promise<{ at: number } | null>;
  noteLast(key: string, at: number): Promise<void>;
}

const DUE = "alert.due:";
const TOLD = "alert.told:";
const LAST = "alert.last:";
/** Behind a prefix: the colon's successor. */
const end = (prefix: string): string => `${prefix.slice(0, -1)};`;
const MOST_KEYS = 10_000;

const SHAPE = { key: meta.key, value: meta.value };
const IN_RANGE = defineQuery(
  "SELECT key, value FROM meta WHERE key > ? AND key < ? ORDER BY key LIMIT ?",
  SHAPE,
);
const DUE_NOW = defineQuery(
  `SELECT key, value FROM meta WHERE key > '${DUE}' AND key < '${end(DUE)}'
    AND coalesce(value ->> 'notBefore', 0) <= ? ORDER BY key LIMIT ?`,
  SHAPE,
);
const ONE = defineQuery("SELECT key, value FROM meta WHERE key = ?", SHAPE);

const RAISE = `INSERT INTO meta (key, value) SELECT '${DUE}' || ?1, ?2
WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = '${TOLD}' || ?1)
ON CONFLICT (key) DO UPDATE SET value = json_remove(value, '$.until')`;
/** What comes at an instant, and came again before it was told, is told once. */
const RAISE_AGAIN = `INSERT INTO meta (key, value) VALUES ('${DUE}' || ?1, ?2)
ON CONFLICT (key) DO UPDATE SET value = json_set(excluded.value, '$.since', value ->> 'since',
  '$.times', 1 + coalesce(value ->> 'times', 1))`;
const END_TOLD = `INSERT INTO meta (key, value)
SELECT '${DUE}' || ?1, json_set(value, '$.until', ?2, '$.overText', ?3, '$.told', 1) FROM meta WHERE key = '${TOLD}' || ?1
ON CONFLICT (key) DO NOTHING`;
const END_DUE = `UPDATE meta SET value = json_set(value, '$.until', ?2, '$.overText', ?3)
WHERE key = '${DUE}' || ?1 AND value ->> 'until' IS NULL`;
const FORGET_TOLD = `DELETE FROM meta WHERE key = '${TOLD}' || ?1`;
// It may have ended, or begun again, while it was told.
const OPEN_WAS_TOLD = [
  `INSERT INTO meta (key, value) SELECT '${TOLD}' || ?1, json_set(value, '$.told', 1) FROM meta
  WHERE key = '${DUE}' || ?1 AND value ->> 'until' IS NULL ON CONFLICT (key) DO NOTHING`,
  `DELETE FROM meta WHERE key = '${DUE}' || ?1 AND value ->> 'until' IS NULL`,
  `UPDATE meta SET value = json_set(value, '$.told', 1) WHERE key = '${DUE}' || ?1`,
];
const OVER_WAS_TOLD = [
  `DELETE FROM meta WHERE key = '${DUE}' || ?1 AND value ->> 'until' IS NOT NULL`,
  `UPDATE meta SET value = json_remove(value, '$.told') WHERE key = '${DUE}' || ?1`,
];
const NOTE_LAST = `INSERT INTO meta (key, value) VALUES ('${LAST}' || ?1, json_object('at', ?2))
ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

const recordOf = (kept: Kept): AlertRecord => ({
  id: kept.id,
  alert: kept.alert,
  status: kept.until === undefined ? "open" : "over",
  since: kept.since,
  until: kept.until ?? null,
  account: kept.account,
  device: kept.device,
  node: kept.node,
  text: textOf(kept),
  advice: kept.until === undefined || kept.alert === "restarted" ? kept.advice : null,
});

const textOf = ({ text, until, overText, times = 1 }: Kept): string => {
  const told = until === undefined ? text : (overText ?? text);
  return times > 1 ? `${told} This happened ${times} times.` : told;
};

/** Rows of `meta`, see {@link Kept}. */
export function createLedger({
  read,
  readOne,
  writer,
  now,
}: Pick<Store, "read" | "readOne" | "writer" | "now">): Ledger {
  const commit = async (statements: Statement[]): Promise<void> =>
    void (await writer.commit(statements, { owning: null }));
  const range = (prefix: string, limit: number) => read(IN_RANGE, [prefix, end(prefix), limit]);

  return {
    async keys() {
      const rows = [...(await range(DUE, MOST_KEYS)), ...(await range(TOLD, MOST_KEYS))];
      return new Set(rows.map(({ key }) => key.slice(key.indexOf(":") + 1)));
    },

    async raise(key, condition, more = {}) {
      const kept: Kept = { id: `al_${randomBytes(9).toString("hex")}`, raised: now(), ...condition, ...more };
      const sql = more.until === undefined ? RAISE : RAISE_AGAIN;
      await commit([{ sql, args: [key, JSON.stringify(kept)] }]);
    },

    clear: (key, at, text) =>
      commit([
        { sql: END_TOLD, args: [key, at, text ?? null] },
        { sql: END_DUE, args: [key, at, text ?? null] },
        { sql: FORGET_TOLD, args: [key] },
      ]),

    async due(at, limit) {
      const rows = await read(DUE_NOW, [at, limit]);
      const all = rows.map(({ key, value }) => ({
        key: key.slice(DUE.length),
        kept: JSON.parse(value) as Kept,
      }));
      // What ended and began again before its end was told goes on as it was.
      const goesOn = all.filter(({ kept }) => kept.told === 1 && kept.until === undefined);
      for (const { key } of goesOn) await commit(OPEN_WAS_TOLD.map((sql) => ({ sql, args: [key] })));
      return all
        .filter((one) => !goesOn.includes(one))
        .map(({ key, kept }) => ({ key, raised: kept.raised, record: recordOf(kept) }));
    },

    async settle(alerts) {
      const statements = alerts.flatMap(({ key, record }) =>
        (record.status === "open" ? OPEN_WAS_TOLD : OVER_WAS_TOLD).map((sql) => ({ sql, args: [key] })),
      );
      if (statements.length > 0) await commit(statements);
    },

    async open(limit) {
      const rows = [...(await range(TOLD, limit)), ...(await range(DUE, limit))];
      return rows
        .map(({ value }) => recordOf(JSON.parse(value) as Kept))
        .filter(({ status }) => status === "open")
        .slice(0, limit);
    },

    async last(key) {
      const row = await readOne(ONE, [LAST + key]);
      return row && (JSON.parse(row.value) as { at: number });
    },

    noteLast: (key, at) => commit([{ sql: NOTE_LAST, args: [key, at] }]),
  };
}
