import type { Logger } from "../log.ts";
import { SECOND_MS } from "../model/time.ts";
import { defineQuery, integer, nullable, text, type Decoder, type RawValue } from "./query.ts";
import { SEALED_COLUMNS, type SealedColumn } from "./sealed-columns.ts";
import type { SecretBox, Statement, Store } from "./store.ts";

/** Columns that versions up to 0.2 wrote in the clear. */
const ONCE_CLEAR = ["webhooks.url", "bot_bindings.config", "deliveries.url"];
const ROWS_AT_ONCE = 200;
/** So that messages are stored meanwhile as fast as ever. */
const PAUSE_MS = 20;
const TROUBLE_MS = 60 * SECOND_MS;
const DONE = "done";

/**
 * A value of a column that was once written in the clear.
 *
 * @param value as it was read: the sealed bytes, or the text of a row that is still to be sealed
 * @throws {SealBroken} when the bytes do not open
 */
export function openOnceClear(box: Pick<SecretBox, "open">, value: Buffer | string, context: string): string {
  return typeof value === "string" ? value : box.open(value, context).toString("utf8");
}

const anything: Decoder<RawValue> = { decode: (value) => value };

/** What sealing one column takes. The rows are read by their place: what is sealed already is stepped over. */
function stepsOf(sealed: SealedColumn) {
  const { table, column, keys } = sealed;
  const shape = {
    row: integer(),
    clear: nullable(text()),
    ...Object.fromEntries(keys.map((key) => [key, anything])),
  };
  return {
    sealed,
    name: `${table}.${column}`,
    page: defineQuery(
      `SELECT rowid AS row, CASE WHEN typeof(${column}) = 'text' THEN ${column} END AS clear, ${keys.join(", ")}
        FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${ROWS_AT_ONCE}`,
      shape,
    ),
    // Written anew meanwhile, it is sealed already.
    update: `UPDATE ${table} SET ${column} = ? WHERE rowid = ? AND typeof(${column}) = 'text'`,
  };
}

const COLUMNS = SEALED_COLUMNS.filter(({ table, column }) => ONCE_CLEAR.includes(`${table}.${column}`)).map(
  stepsOf,
);
const rowOf = (name: string): string => `sealed:${name}`;
/** What `meta` says of each column: up to which row it is sealed, or that it is. */
export const ONCE_CLEAR_ROWS = COLUMNS.map(({ name }) => ({ key: rowOf(name), done: DONE }));
const PLACE = defineQuery("SELECT value FROM meta WHERE key = ?", { value: text() });
const NOTE =
  "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/** Said in `meta` when clear text was overwritten: what SQLite has left of it in unused places goes with a `VACUUM`. */
export const TRACES_ROW = "sealed_traces";

/** Seals what earlier versions wrote in the clear. */
export interface OnceClear {
  /** In the background, a few rows in each commit. Ended at any instant, the next start goes on where this one was. */
  start(): void;
  /** Resolves when everything is sealed, or it was stopped. */
  finished(): Promise<void>;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

interface OnceClearDeps {
  store: Pick<Store, "read" | "readOne" | "writer" | "box" | "time">;
  log: Logger;
}

/** Nothing runs before `start`. */
export function createOnceClear({ store, log }: OnceClearDeps): OnceClear {
  const { box, time } = store;
  const ending = new AbortController();
  const { signal: stopping } = ending;
  let running: Promise<void> = Promise.resolve();

  /** @returns how many values it has sealed */
  async function sealColumn({ sealed, name, page, update }: (typeof COLUMNS)[number]): Promise<number> {
    const key = rowOf(name);
    const place = (await store.readOne(PLACE, [key]))?.value ?? "0";
    let values = 0;
    if (place === DONE) return values;
    for (let after = Number(place); !stopping.aborted; await time.pause(PAUSE_MS, stopping)) {
      const rows = await store.read(page, [after]);
      const statements: Statement[] = [];
      for (const row of rows) {
        if (row.clear === null) continue;
        const context = sealed.context(
          ...sealed.keys.map((named) => (row as never)[named] as string | number),
        );
        statements.push({ sql: update, args: [box.seal(row.clear, context), row.row] });
      }
      values += statements.length;
      if (statements.length > 0) statements.push({ sql: NOTE, args: [TRACES_ROW, "1"] });
      const ended = rows.length < ROWS_AT_ONCE;
      after = rows.at(-1)?.row ?? after;
      if (statements.length > 0 || ended)
        await store.writer.commit([...statements, { sql: NOTE, args: [key, ended ? DONE : String(after)] }]);
      if (ended) return values;
    }
    return values;
  }

  async function sealAll(): Promise<void> {
    for (let values = 0; !stopping.aborted;) {
      try {
        for (const column of COLUMNS) values += await sealColumn(column);
        if (values > 0 && !stopping.aborted) log.info({ values }, "what was kept in the clear is sealed");
        return;
      } catch (err) {
        log.error({ err }, "sealing what was kept in the clear failed; trying again in a minute");
        await time.pause(TROUBLE_MS, stopping);
      }
    }
  }

  return {
    start() {
      running = sealAll();
    },
    finished: () => running,
    stop() {
      ending.abort();
      return running;
    },
  };
}
