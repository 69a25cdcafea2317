import { createClient, type Client } from "@libsql/client";
import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { StartError } from "../../model/errors/errors.ts";
import { tablesOfNumbers } from "../../store/erase.ts";
import { inspectDatabase } from "../../store/migrations.ts";
import { lockFile } from "../../store/file/offline.ts";
import { isWalDamaged } from "../../store/file/wal.ts";
import { checkSeals } from "./seals.ts";
import { checkTraces } from "./traces.ts";
import { bad, good, NOT_SAVED, note, REPAIR, type Examination, type Finding } from "./finding.ts";

/** What SQLite says when a table is whole and only an index of it is not. */
const INDEX_ONLY = /wrong # of entries in index|missing from index|non-unique entry in index/;
/** Longer than any pause between two attempts. */
const LONGEST_PAUSE_MS = 3 * 24 * 60 * 60 * 1_000;

/**
 * Examines the database of a gateway that does not run. Without `repair` it only reads. With it, it does what loses nothing
 * that could still be used, says each thing that it did, and makes a copy of the files before the first one.
 */
export async function examineDatabase(
  config: Config,
  { repair, now = Date.now() }: { repair: boolean; now?: number },
): Promise<Finding[]> {
  if (!config.databaseUrl.startsWith("file:")) return [];
  const file = config.databaseUrl.slice("file:".length);
  if (!existsSync(file)) return [];
  try {
    const lock = await lockFile(config);
    try {
      return await examineFile(config, file, repair, now);
    } finally {
      lock.release();
    }
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return [note("contents", `not examined: ${error.message}`)];
  }
}

async function examineFile(config: Config, file: string, repair: boolean, now: number): Promise<Finding[]> {
  // Opening such a file would make SQLite throw the rest of its log away.
  if (await isWalDamaged(`${file}-wal`))
    return [bad("contents", `the log ${file}-wal was changed after it was written; ${NOT_SAVED}`)];
  const client = createClient({ url: `file:${file}`, concurrency: 1 });
  const findings: Finding[] = [];
  let copied = false;
  const copyFirst = (): void => {
    if (copied) return;
    copied = true;
    findings.push(good("copy", `copy of the files before the repair: ${copyOf(file, now)}`));
  };
  const examination: Examination = { client, config, file, repair, now, copyFirst, findings };
  try {
    if (!(await checkPages(examination))) return findings;
    if ((await inspectDatabase(client, `The database ${file}`)) === "empty") return findings;
    await checkOwners(examination);
    await checkSeals(examination);
    await checkStuck(examination);
    await checkLeftOvers(examination);
    await checkTraces(examination);
    if (repair) await client.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    return findings;
  } catch (error) {
    if (error instanceof StartError) return [...findings, bad("contents", error.message)];
    if (!/SQLITE_(CORRUPT|NOTADB)/.test(String((error as { code?: unknown }).code))) throw error;
    return [...findings, bad("contents", `${file} is damaged; ${NOT_SAVED}`)];
  } finally {
    client.close();
  }
}

/** False when nothing else can be trusted. */
async function checkPages({ client, file, repair, copyFirst, findings }: Examination): Promise<boolean> {
  const problems = await integrity(client);
  if (problems.length === 0) {
    findings.push(good("contents", "every page and index is intact"));
    return true;
  }
  const [first = ""] = problems;
  if (!problems.every((problem) => INDEX_ONLY.test(problem))) {
    findings.push(bad("contents", `${file} is damaged (${first}); ${NOT_SAVED}`));
    return false;
  }
  if (!repair) {
    findings.push(bad("contents", `an index is damaged (${first}), but no row is lost; ${REPAIR}`));
    return true;
  }
  copyFirst();
  await client.execute("REINDEX");
  const left = await integrity(client);
  findings.push(
    left.length === 0
      ? good("contents", "repaired: rebuilt the indexes from the rows")
      : bad("contents", `the indexes cannot be rebuilt (${left[0]}); ${NOT_SAVED}`),
  );
  return left.length === 0;
}

async function integrity(client: Client): Promise<string[]> {
  const { rows } = await client.execute("PRAGMA integrity_check(20)");
  return rows.map((row) => String(row[0])).filter((text) => text !== "ok");
}

/** Rows of numbers that are gone: nobody can reach them any more. */
async function checkOwners({ client, repair, copyFirst, findings }: Examination): Promise<void> {
  const { tables, children } = tablesOfNumbers();
  const conditions = [
    ...tables.map((table) => ({ table, where: "device_id NOT IN (SELECT id FROM devices)" })),
    ...children.map(({ table, column, parent }) => ({
      table,
      where: `${column} NOT IN (SELECT id FROM ${parent})`,
    })),
  ];
  let orphans = 0;
  for (const { table, where } of conditions) {
    const found = await count(client, table, where);
    if (found > 0 && repair) {
      copyFirst();
      await client.execute(`DELETE FROM ${table} WHERE ${where}`);
    }
    orphans += found;
  }
  if (orphans === 0) findings.push(good("numbers", "every row belongs to a number that exists"));
  else if (repair) findings.push(good("numbers", `repaired: removed ${orphans} rows of deleted numbers`));
  else findings.push(note("numbers", `${orphans} rows belong to deleted numbers; ${REPAIR}`));
}

/** Deliveries that wait for no time, or for one that no pause is long enough for. */
async function checkStuck({ client, repair, now, copyFirst, findings }: Examination): Promise<void> {
  const where = `state IN ('pending', 'retrying') AND (next_at IS NULL OR next_at > ${now + LONGEST_PAUSE_MS})`;
  const stuck = await count(client, "deliveries", where);
  if (stuck === 0) findings.push(good("queues", "nothing is stuck"));
  else if (!repair)
    findings.push(bad("queues", `${stuck} deliveries are stuck without a valid next attempt; ${REPAIR}`));
  else {
    copyFirst();
    await client.execute(`UPDATE deliveries SET next_at = ${now} WHERE ${where}`);
    findings.push(good("queues", `repaired: ${stuck} stuck deliveries are due now`));
  }
}

/** What a crash left half written. Drafts of keys are never touched: one may be the only copy. */
async function checkLeftOvers({ config, repair, findings }: Examination): Promise<void> {
  const folder = join(config.dataDir, "tmp");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const drafts = [join(config.dataDir, "ballast.new")].filter((path) => existsSync(path));
  const paths = [...names.map((name) => join(folder, name)), ...drafts];
  if (paths.length === 0) return;
  if (repair) for (const path of paths) rmSync(path, { recursive: true, force: true });
  const done = repair ? "repaired: removed" : `the next start removes them, or ${REPAIR}:`;
  findings.push((repair ? good : note)("left over", `${done} ${paths.length} temporary files`));
}

async function count(client: Client, table: string, where: string): Promise<number> {
  const { rows } = await client.execute(`SELECT count(*) AS n FROM ${table} WHERE ${where}`);
  return Number(rows[0]?.["n"] ?? 0);
}

function copyOf(file: string, now: number): string {
  const copy = `${file}.before-repair-${new Date(now).toISOString().replaceAll(/[:.]/g, "-")}`;
  for (const ending of ["", "-wal"]) {
    if ((statSync(file + ending, { throwIfNoEntry: false })?.size ?? 0) === 0) continue;
    copyFileSync(file + ending, copy + ending);
    chmodSync(copy + ending, 0o600);
  }
  return copy;
}
