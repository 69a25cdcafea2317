import { createClient, type Client } from "@libsql/client";
import { existsSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../../config.ts";
import { StartError } from "../../model/errors/errors.ts";
import { systemTime } from "../../model/time.ts";
import { asStartError, refuseDamagedWal } from "../file/damage.ts";
import { START_PATIENCE_MS } from "../file/file-engine.ts";
import { createPrivately, databaseFile, makeFolder, takeLocks } from "../open.ts";
import { openServerClient } from "../server/client.ts";
import { soleUser } from "../write/sole-use.ts";

/** One of the two databases of a move, which nobody else uses. */
export interface End {
  client: Client;
  /** For people, without credentials. */
  name: string;
  /** The setting that names it, without credentials. */
  address: string;
  /** Path; null for a server. */
  file: string | null;
  release(): void;
}

type Settings = Pick<Config, "dataDir" | "databaseAuthToken">;

/**
 * Opens a database for a move, and makes sure that no gateway runs on it.
 *
 * @param url `file:…` or the address of a server; its token is that of the settings
 * @throws {StartError} when one does, or it cannot be reached
 */
export async function openEnd(url: string, settings: Settings): Promise<End> {
  const file = databaseFile(url);
  return file === null ? await openServerEnd(url, settings) : await openFileEnd(file, settings);
}

async function openFileEnd(file: string, { dataDir }: Settings): Promise<End> {
  makeFolder(dataDir);
  makeFolder(dirname(file));
  const name = `The database ${file}`;
  const locks = await takeLocks(dataDir, file);
  const release = (): void => {
    for (const lock of locks) lock.release();
  };
  try {
    createPrivately(file);
    await refuseDamagedWal(file, name);
    const client = createClient({ url: `file:${file}`, concurrency: 1, intMode: "bigint" });
    await client.execute(`PRAGMA busy_timeout = ${START_PATIENCE_MS}`);
    await client.execute("PRAGMA journal_mode = WAL");
    return { client, name, address: `file:${file}`, file, release: () => (client.close(), release()) };
  } catch (error) {
    release();
    throw error;
  }
}

async function openServerEnd(url: string, { databaseAuthToken: authToken }: Settings): Promise<End> {
  const client = openServerClient({ url, authToken, intMode: "bigint" });
  const address = withoutCredentials(url);
  const name = `The database at ${address}`;
  try {
    await refuseRunning(client, name);
    return { client, name, address, file: null, release: () => client.close() };
  } catch (error) {
    client.close();
    throw asStartError(error, name);
  }
}

/** Nodes tell the database that they live; it says by its own clock whether one does. */
async function refuseRunning(client: Client, name: string): Promise<void> {
  const { rows: tables } = await client.execute("SELECT 1 FROM sqlite_master WHERE name = 'nodes'");
  if (tables.length === 0) return;
  const { rows: users } = await client.execute(soleUser());
  if (users.length > 0)
    throw new StartError(
      `${name} is in use by the Parley on ${String(users[0]!["host"])}: stop it. After a crash, try again in a minute.`,
    );
  const { rows } = await client.execute(
    "SELECT name FROM nodes WHERE until > unixepoch('subsec') * 1000 ORDER BY name LIMIT 10",
  );
  if (rows.length === 0) return;
  const running = rows.map((row) => String(row.name)).join(", ");
  throw new StartError(
    `${name} is in use by ${running}: stop every node, and try again after their leases have ended.`,
  );
}

/** An address as it may be shown. */
export function withoutCredentials(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

/** What is there makes room: a file is put aside, tables of a server are dropped. @returns where the file is now */
export async function emptyEnd(end: End): Promise<string | null> {
  const { client, file } = end;
  if (file !== null) {
    await client.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    client.close();
    const aside = `${file}.aside-${new Date(systemTime.now()).toISOString().replaceAll(":", "-")}`;
    renameSync(file, aside);
    for (const side of ["-wal", "-shm"])
      if (existsSync(`${file}${side}`)) renameSync(`${file}${side}`, `${aside}${side}`);
    createPrivately(file);
    await client.reconnect();
    await client.execute("PRAGMA journal_mode = WAL");
    return aside;
  }
  const { rows } = await client.execute(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'libsql\\_%' ESCAPE '\\'",
  );
  await client.migrate(rows.map((row) => `DROP TABLE "${String(row.name)}"`));
  return null;
}
