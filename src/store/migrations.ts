import { createHash } from "node:crypto";
import { createClient, type Client, type InStatement } from "@libsql/client";
import { existsSync, readFileSync } from "node:fs";
import { drizzle } from "drizzle-orm/libsql";
import { migrate } from "drizzle-orm/libsql/migrator";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../config.ts";
import { StartError } from "../model/errors/errors.ts";
import { failpoint, hasFailpoints } from "../model/failpoint.ts";
import { UNFINISHED } from "./move/marks.ts";
import { keepAlive, systemTime, type Time } from "../model/time.ts";
import { failureKind } from "./engine.ts";

const JOURNAL = "drizzle/migrations/meta/_journal.json";
const APPLIED = "__drizzle_migrations";
// As drizzle makes it.
const CREATE_APPLIED = `CREATE TABLE IF NOT EXISTS ${APPLIED} (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)`;
// Three names that no other program has together.
const OUR_TABLES = ["meta", "api_keys", "wa_keys"];

/**
 * The folder with the migrations, looked for from this module upwards: the bundler is free to put this code into any
 * folder of the build, which carries a copy.
 */
export function migrationsFolder(from: string = dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, JOURNAL))) return join(folder, "drizzle/migrations");
    if (folder === dirname(folder))
      throw new StartError(`The folder drizzle/migrations is missing above ${from}; install Parley again.`);
  }
}

/** `empty` has no tables; `ours` may be brought up to date. */
export type DatabaseKind = "empty" | "ours";

/**
 * Says whose database this is, and reads only.
 *
 * @param name how to name the database to the user
 * @throws {StartError} when it belongs to something else, or to a Parley that is newer than this one
 */
export async function inspectDatabase(client: Client, name: string): Promise<DatabaseKind> {
  const { rows } = await client.execute(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  const tables = rows.map((row) => String(row.name));
  if (tables.includes(UNFINISHED))
    throw new StartError(`${name} is an unfinished copy: run parley move-database again to continue it.`);
  // A first start that was cut off leaves at most drizzle's own empty table.
  if (tables.every((table) => table === APPLIED)) return "empty";
  if (![APPLIED, ...OUR_TABLES].every((table) => tables.includes(table)))
    throw new StartError(
      `${name} is not a Parley database; nothing in it was changed. Set DATA_DIR or DATABASE_URL to another place.`,
    );
  await refuseUnknownMigrations(client, name);
  return "ours";
}

async function refuseUnknownMigrations(client: Client, name: string): Promise<void> {
  const { rows } = await client.execute(`SELECT hash FROM ${APPLIED}`);
  if (rows.every(({ hash }) => knownMigrations().has(String(hash)))) return;
  throw new StartError(
    `${name} was written by a newer or different version of Parley; nothing in it was changed. Start that version, or set another DATA_DIR.`,
  );
}

let known: Set<string> | null = null;

/** How many migrations of this version the database lacks. Reads only; 0 of an empty one, which gets all of them at once. */
export async function missingMigrations({
  databaseUrl: url,
  databaseAuthToken: authToken,
}: Pick<Config, "databaseUrl" | "databaseAuthToken">): Promise<number> {
  const client = createClient({ url, ...(authToken !== null && { authToken }) });
  try {
    if ((await inspectDatabase(client, "The database")) === "empty") return 0;
    const { rows } = await client.execute(`SELECT hash FROM ${APPLIED}`);
    const applied = new Set(rows.map(({ hash }) => String(hash)));
    return [...knownMigrations()].filter((hash) => !applied.has(hash)).length;
  } finally {
    client.close();
  }
}

/** Hashes as drizzle stores them: SHA-256 of each migration's text. Read once: they belong to this program. */
const knownMigrations = (): Set<string> => (known ??= readKnown());

function readKnown(): Set<string> {
  const folder = migrationsFolder();
  const journal = JSON.parse(readFileSync(join(folder, "meta/_journal.json"), "utf8")) as {
    entries: { tag: string }[];
  };
  const hashes = journal.entries.map(({ tag }) =>
    createHash("sha256")
      .update(readFileSync(join(folder, `${tag}.sql`)))
      .digest("hex"),
  );
  return new Set(hashes);
}

/** How often it is looked whether another process has made the tables, and how long between. */
const MOST_ATTEMPTS = 20;
const ATTEMPT_PAUSE_MS = 250;

/**
 * All missing migrations in one transaction: a crash leaves the old schema or the new one. Of several processes that start
 * at the same time one makes them, and the others find them made.
 */
export async function applyMigrations(client: Client, time: Pick<Time, "pause"> = systemTime): Promise<void> {
  const watched = hasFailpoints ? interruptible(client) : client;
  for (let attempt = 1; ; attempt++) {
    const applied = await hashesOf(client);
    if ([...knownMigrations()].every((hash) => applied.includes(hash))) return;
    const before = applied.length;
    try {
      return await migrate(drizzle(unlessMoved(watched, before)), { migrationsFolder: migrationsFolder() });
    } catch (error) {
      const others = (await hashesOf(client)).length !== before || isBusy(error);
      if (!others || attempt === MOST_ATTEMPTS) throw error;
      await keepAlive(time.pause(ATTEMPT_PAUSE_MS));
    }
  }
}

async function hashesOf(client: Client): Promise<string[]> {
  await client.execute(CREATE_APPLIED);
  const { rows } = await client.execute(`SELECT hash FROM ${APPLIED}`);
  return rows.map(({ hash }) => String(hash));
}

/** Somebody else is writing, as it may be the same migrations. */
function isBusy(error: unknown): boolean {
  const { code = "", message = "" } = error as { code?: string; message?: string };
  return failureKind(code, message) === "busy";
}

/** The same client, whose migration breaks a rule when another one was made since they were counted. */
function unlessMoved(client: Client, counted: number): Client {
  // `hash` may not be null.
  const guard = {
    sql: `INSERT INTO ${APPLIED} (hash) SELECT NULL WHERE (SELECT count(*) FROM ${APPLIED}) <> ?`,
    args: [counted],
  };
  return new Proxy(client, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function") return value;
      if (key !== "migrate") return value.bind(target) as unknown;
      return async (statements: InStatement[]) => (await target.migrate([guard, ...statements])).slice(1);
    },
  });
}

/** The same client; a crash test may end the process between two statements of a migration. */
function interruptible(client: Client): Client {
  return new Proxy(client, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function") return value;
      if (key !== "migrate") return value.bind(target) as unknown;
      return (statements: InStatement[]) => target.migrate(new Proxy(statements, { get: passing }));
    },
  });
}

function passing(statements: InStatement[], key: string | symbol): unknown {
  if (typeof key === "string" && /^\d+$/.test(key)) failpoint("mid-migration");
  return Reflect.get(statements, key);
}
