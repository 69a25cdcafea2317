import { createClient } from "@libsql/client";
import { existsSync } from "node:fs";
import type { Config } from "../../config.ts";
import { StartError } from "../../model/errors/errors.ts";
import { systemTime } from "../../model/time.ts";
import { asStartError, refuseDamagedWal } from "./damage.ts";
import { createFileReader } from "./file-engine.ts";
import { readDerivationKey, readKeyCheck, requireFittingKey } from "../sealed/key-check.ts";
import { inspectDatabase } from "../migrations.ts";
import { databaseFile } from "../open.ts";
import { createReading } from "../reading.ts";
import { createSecretBox } from "../sealed/secret-box.ts";
import { findMasterKey } from "../sealed/secrets.ts";
import { createServerReader } from "../server/engine.ts";
import type { Store } from "../store.ts";

/** What can be done with the data while somebody else runs on it. */
export interface ReadOnlyStore extends Pick<Store, "read" | "readOne" | "pages" | "box" | "now"> {
  close(): void;
}

/**
 * Opens the data of a gateway for reading, whether it runs or not. Nothing is locked, brought up to date or written.
 *
 * @throws {StartError} when there is no data of Parley, it is another version's, or the key does not fit
 */
export async function openReadOnly(
  config: Pick<Config, "databaseUrl" | "databaseAuthToken" | "masterKey" | "dataDir">,
): Promise<ReadOnlyStore> {
  const { databaseUrl: url, databaseAuthToken: token } = config;
  const file = databaseFile(url);
  const name = file === null ? "The database of DATABASE_URL" : `The database ${file}`;
  if (file !== null && !existsSync(file))
    throw new StartError(`${name} does not exist: name the data folder with --data or DATA_DIR.`);
  if (file !== null) await refuseDamagedWal(file, name);
  const box = await openBox(config, name);
  const source =
    file === null ? createServerReader({ url, authToken: token, time: systemTime }) : createFileReader(file);
  const { read, readOne, pages } = createReading(source, systemTime);
  return { read, readOne, pages, box, now: systemTime.now, close: () => source.close() };
}

async function openBox(config: Parameters<typeof openReadOnly>[0], name: string): Promise<Store["box"]> {
  const { databaseUrl: url, databaseAuthToken: token, dataDir } = config;
  const client = createClient({ url, authToken: token ?? undefined });
  try {
    const check = (await inspectDatabase(client, name)) === "ours" ? await readKeyCheck(client) : null;
    if (check === null) throw new StartError(`${name} is empty: no gateway has run on it.`);
    const key = findMasterKey(config);
    requireFittingKey(key, check, dataDir, name);
    return createSecretBox(key, { derivationKey: await readDerivationKey(client, key) });
  } catch (error) {
    throw asStartError(error, name);
  } finally {
    client.close();
  }
}
