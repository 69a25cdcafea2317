import Database from "libsql";
import { cpSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FailpointName } from "../../src/model/failpoint.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import { adoptCompanion, type LibrarySimulator } from "../../src/simulator/inside.ts";
import { removeFolder } from "../_setup/folders.ts";
import type { UpgradeFacts } from "../fixtures/upgrade/facts.ts";
import { runGateway, startGateway } from "../_setup/gateway.ts";
import { PATIENCE_MS, until } from "./apart.ts";
import { judge, type Judged, type Verdict } from "../../src/demo/judge/judge.ts";
import type { CrashPoint, Random } from "./points.ts";

const FIXTURE = fileURLToPath(new URL("../fixtures/upgrade/0.1/", import.meta.url));
const MIGRATIONS = fileURLToPath(new URL("../../drizzle/migrations/", import.meta.url));

/**
 * The data folder of the first version is brought up to date; the process ends between two statements. What is left is
 * the old schema, whole; the next start brings it up to date, and the number answers.
 */
export function crashWhileMigrating(failpoint: FailpointName, where: string): CrashPoint {
  return { name: failpoint, failpoint, where, run: ({ entry }, random) => drill(entry, failpoint, random) };
}

async function drill(entry: string, failpoint: FailpointName, random: Random): Promise<Verdict> {
  const facts = JSON.parse(readFileSync(join(FIXTURE, "facts.json"), "utf8")) as UpgradeFacts;
  const dataDir = mkdtempSync(join(tmpdir(), "parley-crash-upgrade-"));
  cpSync(FIXTURE, dataDir, { recursive: true });
  const sim = (await startSimulator({ seed: facts.seed, controlPort: false })) as LibrarySimulator;
  await sim.addNumber(facts.number);
  adoptCompanion(sim.server, facts.number, facts.companion);
  const env = {
    PARLEY_MASTER_KEY: facts.masterKey,
    PARLEY_ADMIN_TOKEN: facts.adminToken,
    WHATSAPP_WS_URL: sim.wsUrl,
    WHATSAPP_NOISE_ROOT: sim.noiseRoot,
    ALLOW_PRIVATE_NETWORK: "1",
  };
  try {
    const before = schemaOf(dataDir);
    const pass = 1 + Math.floor(random() * (statementsAfter(before.applied) - 1));
    const { signal, stderr } = await runGateway({
      dataDir,
      entry,
      env: { ...env, CRASH_AT: `${failpoint}:${pass}` },
    });
    if (signal !== "SIGKILL") throw new Error(`It did not end at "${failpoint}:${pass}": ${stderr}`);
    const half = schemaOf(dataDir);
    const gateway = await startGateway({ dataDir, entry, env, readyWithinMs: PATIENCE_MS });
    try {
      const verdict = await converse(sim, dataDir, facts);
      if (half.text !== before.text) verdict.problems.push("the crash left another schema than the old one");
      return verdict;
    } finally {
      await gateway.dispose();
    }
  } finally {
    await sim.stop();
    removeFolder(dataDir);
  }
}

async function converse(sim: LibrarySimulator, dataDir: string, facts: UpgradeFacts): Promise<Verdict> {
  const { number } = facts;
  await sim.waitOnline(number, 60_000);
  const person = await sim.addContact("4915100000078");
  for (let count = 0; count < 3; count++) await person.sendText(number, "ping");
  const seen: Judged["sim"] = {
    transcript: (filter) => sim.transcript(filter),
    pending: (which) => sim.pending(which),
    channelPosts: (id) => sim.channelPosts(id),
    // This simulator's phone of the owner has not got the sessions of the other's, and asks once more.
    violations: async () =>
      (await sim.violations()).filter(({ who, rule }) => who !== `${number}:0` || rule !== "undecryptable"),
  };
  // What the fixture was made with is older than this simulator's transcript.
  const since = { seq: 0, post: 0, ...newestOf(dataDir, person.number) };
  const script = { numbers: [number], replies: () => 1, since };
  let verdict = await judge({ sim: seen, dataDir }, script);
  await until("three are answered", async () => {
    verdict = await judge({ sim: seen, dataDir }, script);
    return verdict.problems.length === 0;
  }).catch(() => undefined);
  return verdict;
}

/** Rows that the fixture came with, before this person wrote. */
function newestOf(dataDir: string, contact: string): { inbox: number; outbox: number } {
  const newest = (database: Database.Database, table: string): number => {
    const sql = `SELECT coalesce(max(id), 0) AS id FROM ${table} WHERE chat <> ?`;
    return (database.prepare(sql).get([`${contact}@s.whatsapp.net`]) as { id: number }).id;
  };
  return read(dataDir, (database) => ({
    inbox: newest(database, "inbox"),
    outbox: newest(database, "outbox"),
  }));
}

function schemaOf(dataDir: string): { text: string; applied: number } {
  return read(dataDir, (database) => {
    const rows = database.prepare("SELECT sql FROM sqlite_schema ORDER BY name").all([]);
    const applied = database.prepare("SELECT hash FROM __drizzle_migrations").all([]).length;
    return { text: JSON.stringify({ rows, applied }), applied };
  });
}

/** Statements that bring a database up to date, the notes of the migrations included. */
function statementsAfter(applied: number): number {
  const files = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith(".sql"))
    .toSorted()
    .slice(applied);
  const counts = files.map(
    (name) => readFileSync(join(MIGRATIONS, name), "utf8").split("--> statement-breakpoint").length + 1,
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

function read<Result>(dataDir: string, look: (database: Database.Database) => Result): Result {
  const database = new Database(join(dataDir, "parley.db"));
  try {
    return look(database);
  } finally {
    database.close();
  }
}
