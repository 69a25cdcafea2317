import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { meta, nodes } from "../../../drizzle/schema.ts";
import type { Logger } from "../../log.ts";
import { StartError } from "../../model/errors/errors.ts";
import { keepAlive, SECOND_MS } from "../../model/time.ts";
import { DATABASE_NOW } from "./lease-fence.ts";
import { defineQuery, integer } from "../query.ts";
import type { Statement, Store } from "../store.ts";

/**
 * A process on a libSQL server without `CLUSTER` has the database for itself. Nothing fences its writes, so a second process must not
 * start meanwhile: a row in `meta` says who uses the database, and since when that was last heard of. All times are the database's.
 */
export interface SoleUse {
  /** The next process need not wait. */
  stop(): Promise<void>;
}

/** Names this process beside others of the same host. In `DATA_DIR`, which one process has. */
export const USER_FILE = "database-user";
const ROW = "sole_use";
const RENEW_MS = 15 * SECOND_MS;
/** Not heard of for so long, it is gone. */
const GONE_MS = 45 * SECOND_MS;
const LOOK_MS = 5 * SECOND_MS;
const USED = `coalesce((SELECT CAST(value ->> 'at' AS INTEGER) FROM meta WHERE key = '${ROW}' AND value ->> 'user' <> ?1), 0)`;
/** What another process said last, and whether that is so long ago that it is gone. */
const OTHER = defineQuery(
  `SELECT value ->> 'host' AS host, CAST(value ->> 'at' AS INTEGER) AS at, ${DATABASE_NOW} AS now
FROM meta WHERE key = '${ROW}' AND value ->> 'user' <> ?1`,
  { host: meta.value, at: integer(), now: integer() },
);
const NODES = defineQuery(`SELECT name FROM nodes WHERE until > ${DATABASE_NOW} ORDER BY name LIMIT 20`, {
  name: nodes.name,
});
const USE = `INSERT INTO meta (key, value)
SELECT '${ROW}', json_object('user', ?1, 'host', ?2, 'at', ${DATABASE_NOW})
WHERE ${USED} <= ${DATABASE_NOW} - ${GONE_MS} AND NOT EXISTS (SELECT 1 FROM nodes WHERE until > ${DATABASE_NOW})
ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
// Whoever has it keeps it: a node that is only about to be refused must not end the process that runs.
const RENEW = `UPDATE meta SET value = json_object('user', ?1, 'host', ?2, 'at', ${DATABASE_NOW})
WHERE key = '${ROW}' AND value ->> 'user' = ?1`;
const END_STALE = `DELETE FROM meta WHERE key = '${ROW}' AND CAST(value ->> 'at' AS INTEGER) <= ${DATABASE_NOW} - ${GONE_MS}`;
const LEAVE = `DELETE FROM meta WHERE key = '${ROW}' AND value ->> 'user' = ?1`;

/** The host of the process that has the database for itself now; no row: none has. */
export const soleUser = (): string =>
  `SELECT value ->> 'host' AS host FROM meta WHERE key = '${ROW}' AND CAST(value ->> 'at' AS INTEGER) > ${DATABASE_NOW} - ${GONE_MS}`;

interface SoleUseDeps {
  store: Pick<Store, "read" | "readOne" | "writer" | "time">;
  dataDir: string;
  log: Pick<Logger, "warn" | "error">;
  /** Another process uses the database: this one must end. */
  onTaken(): void;
}

/**
 * Waits for a process that may have died, takes its place, and says again and again that this one lives.
 *
 * @throws {StartError} when another process, or a node of a cluster, uses the database
 */
export async function takeSoleUse({ store, dataDir, log, onTaken }: SoleUseDeps): Promise<SoleUse> {
  const user = `${nameOf(dataDir)}@${hostname()}`;
  const use: Statement = { sql: USE, args: [user, hostname()] };
  const keep: Statement = { sql: RENEW, args: [user, hostname()] };
  const commit = async (statement: Statement): Promise<boolean> =>
    (await store.writer.commit([statement], { owning: null }))[0]!.rowsAffected > 0;

  async function renew(): Promise<void> {
    if ((await commit(keep)) || (await commit(use))) return;
    log.error(
      {},
      "another process uses the database of DATABASE_URL; this one ends, because both would write",
    );
    onTaken();
  }

  await waitForOther(store, user, log);
  if (!(await commit(use))) throw new StartError(await whoUses(store, user));
  // A database that is away says so elsewhere, and nobody else can take it meanwhile.
  const cancel = store.time.every(RENEW_MS, () => void renew().catch(() => undefined));
  return {
    async stop() {
      cancel();
      await commit({ sql: LEAVE, args: [user] }).catch(() => undefined);
    },
  };
}

/**
 * For nodes, before they take their name and once more afterwards. A process that was alone, is gone and comes back finds its row gone.
 *
 * @throws {StartError} while a process that is alone uses the database
 */
export async function refuseSoleUse(
  store: Pick<Store, "readOne" | "writer" | "time">,
  log: Pick<Logger, "warn">,
): Promise<void> {
  await waitForOther(store, "", log);
  await store.writer.commit([{ sql: END_STALE, args: [] }], { owning: null });
}

/** Returns when nobody else is heard of any more. @throws {StartError} when somebody is */
async function waitForOther(
  store: Pick<Store, "readOne" | "time">,
  user: string,
  log: Pick<Logger, "warn">,
): Promise<void> {
  let known: number | null = null;
  for (;;) {
    const other = await store.readOne(OTHER, [user]);
    if (other === null || other.at <= other.now - GONE_MS) return;
    if (known !== null && other.at > known) throw new StartError(usedBy(other.host));
    if (known === null)
      log.warn(
        { host: other.host },
        "another process used this database just now; waiting until it is known to be gone",
      );
    known = other.at;
    await keepAlive(store.time.pause(LOOK_MS));
  }
}

async function whoUses(store: Pick<Store, "read" | "readOne">, user: string): Promise<string> {
  const running = await store.read(NODES, []);
  if (running.length === 0) return usedBy((await store.readOne(OTHER, [user]))?.host ?? "another host");
  return `The database of DATABASE_URL belongs to a cluster that runs (${running.map(({ name }) => name).join(", ")}): set CLUSTER=1 to join it, or stop its nodes first.`;
}

const usedBy = (host: string): string =>
  `Another Parley, on ${host}, uses the database of DATABASE_URL: stop it, or make both nodes of a cluster with CLUSTER=1 (docs/scaling.md).`;

function nameOf(dataDir: string): string {
  const file = join(dataDir, USER_FILE);
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const name = randomUUID();
    writeFileSync(file, `${name}\n`, { mode: 0o600 });
    return name;
  }
}
