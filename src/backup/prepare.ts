import { createClient } from "@libsql/client";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseMasterKey, type Config } from "../config.ts";
import { systemTime } from "../model/time.ts";
import { asStartError } from "../store/file/damage.ts";
import { createFileEngine, createFileReader } from "../store/file/file-engine.ts";
import { keyFits, readDerivationKey, readKeyCheck } from "../store/sealed/key-check.ts";
import { applyMigrations, inspectDatabase } from "../store/migrations.ts";
import { defineQuery, integer } from "../store/query.ts";
import { createReading } from "../store/reading.ts";
import { createSecretBox } from "../store/sealed/secret-box.ts";
import { everyMasterKey, MASTER_KEY_FILE } from "../store/sealed/secrets.ts";
import type { Reading, Statement, Store } from "../store/store.ts";
import { expireWaiting, skipUsedIds } from "./rollback.ts";

/** An unpacked database that was found to be whole, ours, and sealed with a key that is at hand. */
interface OpenedCopy {
  file: string;
  masterKey: Buffer;
  derivationKey: Buffer;
}

/** What preparing a copy for the present takes. */
export interface CopyDeps {
  now(): number;
  /** Whether messages that waited go out however old they are. */
  resend: boolean;
  /** What of WhatsApp's keys must be forgotten when time goes back. */
  forgetRatchets(
    store: Reading & Pick<Store, "box" | "now">,
  ): Promise<{ statements: Statement[]; linked: number }>;
}

/** What became of a copy. */
export interface PreparedCopy {
  /** Numbers that are linked. */
  linked: number;
  /** Messages that waited and will be sent once more. */
  waiting: number;
  /** Messages that waited and are too old to be sent. */
  expired: number;
}

/**
 * @param folder where the archive was unpacked; it may hold the key
 * @throws Error when the database is damaged, of a newer Parley, or no key fits
 */
export async function openCopy(
  file: string,
  folder: string,
  config: Pick<Config, "dataDir" | "masterKey">,
): Promise<OpenedCopy> {
  const name = "The database of the backup";
  const client = createClient({ url: `file:${file}`, concurrency: 1 });
  try {
    await inspectDatabase(client, name);
    const { rows } = await client.execute("PRAGMA integrity_check(1)");
    if (rows[0]?.[0] !== "ok") throw new Error(`${name} is damaged; restore another backup.`);
    const check = await readKeyCheck(client);
    if (check === null) throw new Error(`${name} was never used by a gateway; there is nothing to restore.`);
    const masterKey = fittingKey(check, folder, config);
    await applyMigrations(client);
    return { file, masterKey, derivationKey: await readDerivationKey(client, masterKey) };
  } catch (error) {
    throw (error as { code?: string }).code === undefined ? error : asStartError(error, name);
  } finally {
    client.close();
  }
}

function fittingKey(
  check: string,
  folder: string,
  { dataDir, masterKey }: Pick<Config, "dataDir" | "masterKey">,
) {
  const given = masterKey === null ? [] : [masterKey];
  const key = [...given, ...keyIn(folder), ...everyMasterKey(dataDir)].find((known) => keyFits(known, check));
  if (key === undefined)
    throw new Error(
      `No master key fits the backup. Put the key that the gateway had then into ${join(dataDir, MASTER_KEY_FILE)}, or set PARLEY_MASTER_KEY to it.`,
    );
  if (masterKey !== null && !key.equals(masterKey))
    throw new Error(
      "PARLEY_MASTER_KEY does not fit the backup, but another key that was found does: set PARLEY_MASTER_KEY to that key, or remove the setting.",
    );
  return key;
}

function keyIn(folder: string): Buffer[] {
  try {
    return [
      parseMasterKey(readFileSync(join(folder, MASTER_KEY_FILE), "utf8").trim(), "The key in the backup"),
    ];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

const COUNT = defineQuery("SELECT count(*) AS n FROM outbox WHERE state = ?", { n: integer() });

/** Makes a database of an earlier time one that can go on from now, in one transaction. */
export async function prepareCopy(
  { file, masterKey, derivationKey }: OpenedCopy,
  { now, resend, forgetRatchets }: CopyDeps,
): Promise<PreparedCopy> {
  const reader = createFileReader(file);
  const engine = createFileEngine(file);
  try {
    const reading = createReading(reader, systemTime);
    const count = async (state: string): Promise<number> => (await reading.readOne(COUNT, [state]))!.n;
    const expiredBefore = await count("expired");
    const box = createSecretBox(masterKey, { derivationKey, now });
    const { statements, linked } = await forgetRatchets({ ...reading, box, now });
    await engine.batch([
      ...statements,
      ...(await skipUsedIds({ ...reading, now })),
      ...(resend ? [] : expireWaiting(now())),
    ]);
    return { linked, waiting: await count("queued"), expired: (await count("expired")) - expiredBefore };
  } finally {
    reader.close();
    await engine.close();
  }
}
