import { createClient, type Client } from "@libsql/client";
import { accessSync, closeSync, constants, mkdirSync, openSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Config } from "../config.ts";
import { hideSecret, type Logger } from "../log.ts";
import { StartError } from "../model/errors/errors.ts";
import { systemTime, type Time } from "../model/time.ts";
import { createCache } from "./cache.ts";
import { createClockTrust } from "./clock-trust.ts";
import { asStartError, refuseDamage, refuseDamagedWal } from "./file/damage.ts";
import { codeOf, watchCondition, type Condition } from "./condition.ts";
import type { Engine } from "./engine.ts";
import { noteGoneBack } from "./epoch.ts";
import {
  createFileEngine,
  createFileReader,
  START_PATIENCE_MS,
  type FileReader,
} from "./file/file-engine.ts";
import {
  findSettledKey,
  forgetMeta,
  readDerivationKey,
  readKeyCheck,
  readMeta,
  requireFittingKey,
  writeKeyCheck,
} from "./sealed/key-check.ts";
import { createLeaseFence } from "./write/lease-fence.ts";
import { takeLock, type Lock } from "./file/lock.ts";
import { applyMigrations, inspectDatabase } from "./migrations.ts";
import { MOVED_TO, MOVING, refuseMoved } from "./move/marks.ts";
import { createReading } from "./reading.ts";
import { FORMER_SEALS_ROW, writesFormerSeals } from "./sealed/resealing.ts";
import { createSecretBox } from "./sealed/secret-box.ts";
import { findMasterKey, findOrGenerateAdminToken, generateMasterKey } from "./sealed/secrets.ts";
import type { SealFormat, Store } from "./store.ts";
import { removeTraces } from "./traces.ts";
import { refuseUnfinishedRestore } from "./file/unfinished-restore.ts";
import { openServerClient } from "./server/client.ts";
import { createDatabaseTime } from "./server/database-time.ts";
import { requireDurable, watchDurability, type Durability } from "./server/durability.ts";
import { createServerEngine, createServerReader } from "./server/engine.ts";
import { keepPrivate } from "./file/private-folder.ts";
import { createThreadEngine } from "./thread/engine.ts";
import { createWriter } from "./write/writer.ts";

/**
 * Takes the lock on `DATA_DIR`, makes sure that the database is ours, whole, not newer than this program and sealed with
 * this master key, and brings it up to date. Until all of that is known nothing existing is changed.
 *
 * @param time tests may hand in another
 * @param onGoneBack the database server has lost what it had confirmed; nothing is written any more, and the next start knows of it
 * @throws {StartError} with one line that names the setting or file and the cure
 */
export async function openStore(
  config: Config,
  log: Logger,
  time: Time = systemTime,
  onGoneBack: () => void = () => undefined,
): Promise<Store> {
  makeFolder(config.dataDir);
  const file = databaseFile(config.databaseUrl);
  const locks = await takeLocks(config.dataDir, file);
  try {
    keepPrivate(config.dataDir, log);
    refuseUnfinishedRestore(config.dataDir);
    return await openLocked({ config, log, file, locks, time, onGoneBack });
  } catch (error) {
    for (const lock of locks) lock.release();
    throw error;
  }
}

async function openLocked(
  locked: Pick<OpenedDatabase, "config" | "log" | "file" | "locks" | "time" | "onGoneBack">,
): Promise<Store> {
  const { config, log, file, time } = locked;
  const name = file === null ? "The database of DATABASE_URL" : `The database ${file}`;
  if (file !== null) {
    createPrivately(file);
    await refuseDamagedWal(file, name);
  }
  const { databaseUrl: url, databaseAuthToken: authToken } = config;
  // For a file one connection, so that a pragma given once holds for every read.
  const client = file === null ? openServerClient({ url, authToken }) : createClient({ url, concurrency: 1 });
  let keys: OpenedKeys;
  let durability: Durability | null = null;
  try {
    if (file === null) durability = await expectDurability(config, client, name, log);
    // Somebody may just be looking at the file, or has closed it after a crash and is tidying up its log.
    if (file !== null) await client.execute(`PRAGMA busy_timeout = ${START_PATIENCE_MS}`);
    const masterKey = await prepareDatabase(config, client, file, name, time.now());
    const derivationKey = await readDerivationKey(client, masterKey);
    const asBefore = writesFormerSeals(await readMeta(client, FORMER_SEALS_ROW), config.cluster !== null);
    keys = { masterKey, derivationKey, format: asBefore ? 1 : 2 };
  } finally {
    client.close();
  }
  return await joinStore({ ...locked, name, keys, durability });
}

/** @returns null when it was accepted that commits may be lost */
async function expectDurability(
  config: Config,
  client: Client,
  name: string,
  log: Logger,
): Promise<Durability | null> {
  try {
    return (await requireDurable(client, config, name, log)) ? watchDurability(log) : null;
  } catch (error) {
    throw asStartError(error, name);
  }
}

interface OpenedKeys {
  masterKey: Buffer;
  derivationKey: Buffer;
  format: SealFormat;
}

interface OpenedDatabase {
  config: Config;
  log: Logger;
  /** Null for a server. */
  file: string | null;
  /** For people. */
  name: string;
  keys: OpenedKeys;
  locks: Lock[];
  time: Time;
  /** Null for a file, and for a server whose commits may be lost. */
  durability: Durability | null;
  onGoneBack(): void;
}

/** Everything is known to be in order: the parts of the store are made and put together. */
async function joinStore(opened: OpenedDatabase): Promise<Store> {
  const { config, log, file, name, keys, locks, durability } = opened;
  const shared = file === null ? createDatabaseTime(opened.time) : null;
  const time = shared?.time ?? opened.time;
  const { databaseUrl: url, databaseAuthToken: token } = config;
  const adminToken = findOrGenerateAdminToken(config);
  for (const secret of [keys.masterKey, keys.derivationKey, adminToken]) hideSecret(log, secret);
  const engine = await openEngine(opened);
  const fileReader = file === null ? null : createFileReader(file);
  const source = fileReader ?? createServerReader({ url, authToken: token, time });
  const condition = fileReader && watchFile({ file: file!, name, log, engine, reader: fileReader, time });
  const reading = createReading(source, time, (failed) => condition?.failed(codeOf(failed)));
  await shared?.start(reading, log);
  const fence = config.cluster === null ? undefined : createLeaseFence();
  const writer = createWriter({ engine, time, condition: condition ?? undefined, fence });
  const cache = createCache(config.redisUrl, log);
  return {
    ...reading,
    get state() {
      return durability?.strong === false ? "weak" : (condition?.state ?? "good");
    },
    writer,
    serveLeases: (holder) => fence?.serve(holder),
    box: createSecretBox(keys.masterKey, { ...keys, now: time.now }),
    cache,
    adminToken,
    time,
    clock: createClockTrust(time, log),
    now: time.now,
    async close() {
      await condition?.close();
      shared?.stop();
      // What was given is committed, then nobody reads any more, and the writer leaves one file behind.
      await writer.drain();
      source.close();
      await writer.close();
      await cache.dispose();
      for (const lock of locks) lock.release();
    },
  };
}

function openEngine(opened: OpenedDatabase): Engine | Promise<Engine> {
  const { config, file, log, time, durability } = opened;
  const { databaseUrl: url, databaseAuthToken: authToken } = config;
  if (file !== null) return config.storeThread ? createThreadEngine(file, log) : createFileEngine(file);
  return createServerEngine({
    url,
    authToken,
    time,
    onDurable: durability?.found,
    onGoneBack() {
      log.error(
        "the database server has lost confirmed commits: it was rolled back. The gateway writes nothing more; its next start repairs the loss",
      );
      noteGoneBack(config.dataDir);
      opened.onGoneBack();
    },
  });
}

interface WatchedFile {
  file: string;
  name: string;
  log: Logger;
  engine: Engine;
  reader: FileReader;
  time: Time;
}

function watchFile({ file, name, log, engine, reader, time }: WatchedFile): Condition {
  const pragma = (pragmaName: string): number =>
    Number(reader.read({ sql: `PRAGMA ${pragmaName}`, args: [] }).values[0]?.[0] ?? 0);
  return watchCondition({
    folder: dirname(file),
    name: name.replace(/^The/, "the"),
    log,
    time,
    checkpoint: engine.checkpoint,
    unused: async () => pragma("freelist_count") * pragma("page_size"),
  });
}

/** Checks first, then writes: whose is it, is it whole, does the key fit; then the key, the schema, the check value. */
export async function prepareDatabase(
  config: Config,
  client: Client,
  file: string | null,
  name: string,
  now: number,
): Promise<Buffer> {
  try {
    const kind = await inspectDatabase(client, name);
    const movedTo = kind === "ours" ? await readMeta(client, MOVED_TO) : null;
    if (movedTo !== null) refuseMoved(movedTo, name);
    if (kind === "ours" && file !== null) await refuseDamage(client, file, name);
    const check = kind === "ours" ? await readKeyCheck(client) : null;
    const known = check === null ? findMasterKey(config) : findSettledKey(config, check, now);
    if (check !== null) requireFittingKey(known, check, config.dataDir, name);
    const key = known ?? generateMasterKey(config.dataDir);
    await applyMigrations(client);
    // A copy that was begun is none of what this process will write.
    if (check !== null && (await readMeta(client, MOVING)) !== null) await forgetMeta(client, MOVING);
    if (file !== null) await removeTraces(client, file);
    if (check === null) requireFittingKey(key, await writeKeyCheck(client, key), config.dataDir, name);
    return key;
  } catch (error) {
    throw asStartError(error, name);
  }
}

/**
 * Makes the data folder, readable by its user only, when there is none. Throws {@link StartError} when it cannot be
 * used.
 */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartError(
      `DATA_DIR ${folder} cannot be used (${(error as Error).message}); make it writable or set another DATA_DIR.`,
    );
  }
}

/** The path in a `file:` address; null when the database is on a server. */
export function databaseFile(url: string): string | null {
  return url.startsWith("file:") ? url.slice("file:".length) : null;
}

/** Of the folder, and of a database file that lies elsewhere: two folders may be pointed at one file. */
export async function takeLocks(dataDir: string, file: string | null): Promise<Lock[]> {
  const locks = [await takeLock(join(dataDir, "lock"), `DATA_DIR ${dataDir}`)];
  if (file === null || !relative(dataDir, file).startsWith("..")) return locks;
  try {
    makeFolder(dirname(file));
    locks.push(await takeLock(`${file}.lock`, `The database ${file}`));
    return locks;
  } catch (error) {
    for (const lock of locks) lock.release();
    throw error;
  }
}

/** Makes an empty file. SQLite gives its side files the mode of the database, so this covers the WAL as well. */
export function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "a", 0o600));
  } catch (error) {
    throw new StartError(
      `The database ${file} cannot be opened (${(error as Error).message}); see DATABASE_URL.`,
    );
  }
}
