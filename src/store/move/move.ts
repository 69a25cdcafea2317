import { randomUUID } from "node:crypto";
import type { Client } from "@libsql/client";
import type { Config } from "../../config.ts";
import type { Logger } from "../../log.ts";
import { StartError } from "../../model/errors/errors.ts";
import { systemTime, type Time } from "../../model/time.ts";
import { asStartError, refuseDamage } from "../file/damage.ts";
import { findSettledKey, readKeyCheck, readMeta, requireFittingKey } from "../sealed/key-check.ts";
import { inspectDatabase } from "../migrations.ts";
import { requireDurable } from "../server/durability.ts";
import { copyTables, type Progress } from "./copy.ts";
import { emptyEnd, openEnd, type End } from "./ends.ts";
import { MOVED_TO, MOVING, refuseMoved, UNFINISHED } from "./marks.ts";
import { readSchema } from "./tables.ts";
import { verify } from "./verify.ts";

/** What is to be moved, and where. */
export interface MoveOptions {
  config: Pick<Config, "dataDir" | "databaseAuthToken" | "masterKey" | "allowWeakDurability">;
  log: Logger;
  /** `file:…` or `http(s)://…`; one of both is a file. */
  from: string;
  to: string;
  /** What is in the target makes room: a half-done copy of something else, or data that was moved away from there. */
  replace: boolean;
  /** Told what is being done, often. */
  onProgress(progress: Progress): void;
  time?: Time;
}

/** What a move has done. */
export interface Moved {
  tables: number;
  rows: number;
  /** It went on with a copy that was broken off. */
  resumed: boolean;
  /** Where the file is that lay in the way; null: none did. */
  aside: string | null;
  /** The databases, as they may be shown. */
  from: string;
  to: string;
}

/**
 * Copies a whole database into an empty one: rows as they are, sealed values unopened, with their rowids, the indexes, the
 * counters of ids and the state of the migrations. Each page of rows is one transaction with the note how far the copy is, so
 * broken off anywhere it goes on there when it is done again. Every row is read again from the copy and compared before the
 * copy may be used and the original may not.
 *
 * @throws {StartError} when a gateway runs on one of them, the target has data, or a key or a check does not fit
 */
export async function moveDatabase(options: MoveOptions): Promise<Moved> {
  const { config, from, to } = options;
  if (from.startsWith("file:") === to.startsWith("file:"))
    throw new StartError("A move is between a file and a server: one of --from and --to must be file:…");
  const source = await openEnd(from, config);
  try {
    const target = await openEnd(to, config);
    try {
      return await moveBetween(source, target, options);
    } finally {
      target.release();
    }
  } finally {
    source.release();
  }
}

async function moveBetween(source: End, target: End, options: MoveOptions): Promise<Moved> {
  const { config, log, onProgress, time = systemTime } = options;
  await checkSource(source, target, config, time);
  if (target.file === null)
    await requireDurable(target.client, config, target.name, log).catch((error: unknown) => {
      throw asStartError(error, target.name);
    });
  const id = await moveId(source.client);
  const { resumed, aside } = await prepareTarget(source, target, id, options.replace);
  const tables = await copyTables({ source: source.client, target: target.client, time, onProgress });
  await verify(source.client, target.client, tables, onProgress);
  // The original first: at no instant both may be used.
  await put(source.client, MOVED_TO, `${target.address} ${new Date(time.now()).toISOString()}`);
  await target.client.execute(`DROP TABLE ${UNFINISHED}`);
  const rows = tables.reduce((sum, { copied }) => sum + copied.rows, 0);
  return { tables: tables.length, rows, resumed, aside, from: source.address, to: target.address };
}

/** Ours, whole, and opened by the key that the nodes will be given. */
async function checkSource(
  { client, file, name }: End,
  target: End,
  config: MoveOptions["config"],
  time: Time,
): Promise<void> {
  try {
    // Where a move was broken off at its last step, the original says already that it is not to be used.
    if ((await inspectDatabase(client, name)) !== "ours")
      throw new StartError(`${name} is empty: there is nothing to move.`);
    const movedTo = await readMeta(client, MOVED_TO);
    if (movedTo !== null && !movedTo.startsWith(`${target.address} `)) refuseMoved(movedTo, name);
    if (file !== null) await refuseDamage(client, file, name);
    const check = await readKeyCheck(client);
    if (check === null) throw new StartError(`${name} is empty: no gateway has run on it.`);
    requireFittingKey(findSettledKey(config, check, time.now()), check, config.dataDir, name);
  } catch (error) {
    throw asStartError(error, name);
  }
}

/** Stands in the source for as long as no gateway has run on it since: a copy of what has changed is no copy. */
async function moveId(source: Client): Promise<string> {
  const known = await readMeta(source, MOVING);
  if (known !== null) return known;
  const id = randomUUID();
  await put(source, MOVING, id);
  return id;
}

async function prepareTarget(source: End, target: End, id: string, replace: boolean) {
  const state = await inspectTarget(target.client, id);
  if (state === "resume") return { resumed: true, aside: null };
  const mayBeReplaced = state === "moved away" || state === "another move";
  if (state !== "empty" && !(replace && mayBeReplaced)) refuseTarget(target, state);
  const aside = state === "empty" ? null : await emptyEnd(target);
  const tables = (await readSchema(source.client)).filter(({ type }) => type === "table");
  await target.client.migrate([
    `CREATE TABLE ${UNFINISHED} (name TEXT PRIMARY KEY, place TEXT NOT NULL, rows INTEGER NOT NULL, sum TEXT NOT NULL, done INTEGER NOT NULL)`,
    { sql: `INSERT INTO ${UNFINISHED} VALUES ('', ?, 0, '', 0)`, args: [id] },
    ...tables.map(({ sql }) => sql),
  ]);
  return { resumed: false, aside };
}

type TargetState = "empty" | "resume" | "another move" | "moved away" | "in use";

async function inspectTarget(client: Client, id: string): Promise<TargetState> {
  const names = (await client.execute("SELECT name FROM sqlite_master WHERE type = 'table'")).rows.map(
    (row) => String(row.name),
  );
  if (names.includes(UNFINISHED)) {
    const { rows } = await client.execute(`SELECT place FROM ${UNFINISHED} WHERE name = ''`);
    return rows[0]?.place === id ? "resume" : "another move";
  }
  if (names.every((name) => /^(sqlite|libsql)_/.test(name))) return "empty";
  const movedTo = names.includes("meta") ? await readMeta(client, MOVED_TO) : null;
  return movedTo === null ? "in use" : "moved away";
}

function refuseTarget({ name, file }: End, state: TargetState): never {
  const replaced = file === null ? "deletes it" : "moves it aside";
  const why: Partial<Record<TargetState, string>> = {
    "another move": `has an unfinished copy of another database, or of one that was used since; --replace ${replaced} and starts over`,
    "moved away": `has data that was moved away from it; --replace ${replaced}`,
  };
  throw new StartError(
    `${name} ${why[state] ?? "is not empty; nothing in it was changed. Name an empty one with --to"}.`,
  );
}

const put = (client: Client, key: string, value: string) =>
  client.execute({
    sql: "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    args: [key, value],
  });
