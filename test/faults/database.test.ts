import { createClient } from "@libsql/client";
import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, afterAll, describe, expect, it } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { runGateway, startGateway, type Gateway } from "../_setup/gateway.ts";
import { until } from "../_setup/world.ts";
import { ANA, BEN, botsFolder, idsPerText, openShop, send, SHOP } from "./shop.ts";

const ECHO = `export default (b) => b.match(/.*/, (ctx) => ctx.reply("echo: " + ctx.text));`;
const PAGE = 4096;
const copies: string[] = [];
afterAll(() => {
  for (const copy of copies) removeFolder(copy);
});

describe("a database that another process has locked for writing", () => {
  it(
    "is waited for, then refused with 503; nothing is acknowledged, and all of it goes on afterwards",
    { timeout: 180_000 },
    async () => {
      const world = await openShop({
        env: { BOTS_DIR: botsFolder({ echo: ECHO }) },
        // A token that cannot be stored is not acknowledged either; here the message is what counts.
        simulator: { behaviour: { privacyTokens: false } },
      });
      const { gateway, sim } = world;
      const other = createClient({ url: `file:${join(gateway.dataDir, "parley.db")}` });
      let lock: Awaited<ReturnType<typeof other.transaction>>;
      await until(async () => {
        lock = await other.transaction("write");
        return true;
      });

      await sim.sendText(ANA, SHOP, "while locked");
      // Waiting does not hold the event loop: others are answered meanwhile.
      const sending = send(world, BEN, "refused");
      let answered = 0;
      const over = sending.then(() => true);
      while (!(await Promise.race([over, gateway.get("/health/live").then(() => false)]))) answered += 1;
      expect(answered).toBeGreaterThan(5);
      const refused = await sending;
      expect(refused).toMatchObject({ status: 503, body: { errors: { code: "UNAVAILABLE" } } });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await gateway.get("/health/ready")).body).toMatchObject({
        checks: { database: false, disk: true },
      });
      await until(() => gateway.output().includes("could not store data"));
      expect(await sim.pending(SHOP)).toBeGreaterThanOrEqual(1);
      lock!.close();
      other.close();

      await sim.waitForMessage(ANA, { from: SHOP, text: "echo: while locked" }, 90_000);
      await until(async () => (await send(world, BEN, "accepted")).status === 200, 60_000);
      await sim.waitForMessage(BEN, { from: SHOP, text: "accepted" }, 60_000);
      await sim.settle();
      expect(await idsPerText(world, ANA)).toEqual({ "echo: while locked": 1 });
      expect(Object.keys(await idsPerText(world, BEN))).toEqual(["accepted"]);
    },
  );
});

describe("a start on a damaged database", () => {
  let gateway: Gateway;
  /** Ended in order: everything is in the file. Killed: much of it is in the WAL. */
  const folders = { ended: "", killed: "" };

  beforeAll(async () => {
    gateway = await startGateway();
    for (let n = 0; n < 40; n++) await gateway.createAccount(`Account ${n}`);
    await gateway.stop();
    folders.ended = copyOf(gateway.dataDir);
    await gateway.restart();
    for (let n = 0; n < 10; n++) await gateway.createAccount(`Later ${n}`);
    await gateway.kill();
    folders.killed = copyOf(gateway.dataDir);
  });
  afterAll(() => gateway.dispose());

  const fill =
    (from: number, to: number, value = 0xa5) =>
    (bytes: Buffer) =>
      bytes.fill(value, from, to);
  const CASES: [string, keyof typeof folders, "parley.db" | "parley.db-wal", (bytes: Buffer) => Buffer][] = [
    ["its header", "ended", "parley.db", fill(0, 100)],
    ["a page in the middle", "ended", "parley.db", fill(5 * PAGE, 9 * PAGE)],
    ["a page in the middle, with a WAL beside it", "killed", "parley.db", fill(20 * PAGE, 60 * PAGE)],
    ["its end", "ended", "parley.db", (bytes) => bytes.subarray(0, bytes.length - 3 * PAGE)],
    ["everything", "ended", "parley.db", () => Buffer.from("a letter to my aunt\n".repeat(500))],
    ["the WAL's header", "killed", "parley.db-wal", fill(0, 16)],
    ["a frame in the middle of the WAL", "killed", "parley.db-wal", fill(32 + 24 + 100, 32 + 24 + 110)],
  ];

  it.each(CASES)(
    "%s: exit code 1, one line with the file and the cure, and not a byte is changed",
    async (_what, kind, name, damage) => {
      const dataDir = copyOf(folders[kind]);
      const file = join(dataDir, name);
      writeFileSync(file, damage(readFileSync(file)));
      const before = filesOf(dataDir);

      const run = await runGateway({ dataDir });

      expect(run.code).toBe(1);
      expect(run.stderr).toMatch(/^parley: The database [^\n]*parley\.db [^\n]*doctor[^\n]*\n$/);
      expect(filesOf(dataDir)).toEqual(before);
    },
  );

  it("a WAL that a crash cut off anywhere is no damage", { timeout: 120_000 }, async () => {
    const whole = readFileSync(join(folders.killed, "parley.db-wal"));
    const frames = Math.floor((whole.length - 32) / (24 + PAGE));
    expect(frames).toBeGreaterThan(10);
    for (const length of [
      0,
      20,
      32,
      32 + 24,
      32 + Math.floor(frames / 2) * (24 + PAGE) + 1000,
      whole.length - 1,
    ]) {
      const dataDir = copyOf(folders.killed);
      writeFileSync(join(dataDir, "parley.db-wal"), whole.subarray(0, length));
      const started = await startGateway({ dataDir });
      await started.dispose();
    }
  });
});

describe("damage that shows while it runs", () => {
  it(
    "nothing is acknowledged or accepted any more, and log, health and answers say why",
    { timeout: 180_000 },
    async () => {
      const world = await openShop({
        env: { BOTS_DIR: botsFolder({ echo: ECHO }) },
        // Whether the writer's token is stored before the damage shows is nobody's promise.
        simulator: { behaviour: { privacyTokens: false } },
      });
      const { gateway, sim } = world;
      // Everything into the file, so that what is damaged there is what is read.
      await gateway.restart();
      await world.online(SHOP);
      const file = join(gateway.dataDir, "parley.db");
      const client = createClient({ url: `file:${file}` });
      await until(() =>
        client.execute("PRAGMA wal_checkpoint(TRUNCATE)").then(({ rows }) => rows[0]?.["busy"] === 0),
      );
      const { rows } = await client.execute(
        "SELECT rootpage FROM sqlite_schema WHERE tbl_name IN ('inbox', 'outbox', 'journal')",
      );
      client.close();
      const bytes = readFileSync(file);
      for (const row of rows)
        bytes.fill(0xa5, (Number(row["rootpage"]) - 1) * PAGE, Number(row["rootpage"]) * PAGE);
      writeFileSync(file, bytes, { flag: "r+" });

      await sim.sendText(ANA, SHOP, "lost?");
      await until(() => gateway.output().includes("is damaged"), 60_000);

      const refused = await send(world, BEN, "refused");
      expect(refused).toMatchObject({ status: 503, body: { errors: { code: "UNAVAILABLE" } } });
      expect(refused.body["message"]).toContain("damaged");
      await until(async () => (await gateway.get("/health/ready")).body["checks"].database === false);
      expect((await gateway.get("/health/ready")).body).toMatchObject({
        status: false,
        checks: { database: false },
      });
      let pending = -1;
      await until(async () => (pending = await sim.pending(SHOP)) >= 1).catch((error: unknown) => {
        throw new Error(`${pending} wait at WhatsApp\n${gateway.output()}`, { cause: error });
      });
      expect(gateway.output().match(/is damaged: nothing more is received/g)).toHaveLength(1);
    },
  );
});

function copyOf(folder: string): string {
  const copy = mkdtempSync(join(tmpdir(), "parley-faults-"));
  copies.push(copy);
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** Content of the database and its WAL. */
function filesOf(dataDir: string): Record<string, string> {
  const names = ["parley.db", "parley.db-wal", "master-key"];
  return Object.fromEntries(
    names.map((name) => {
      const file = join(dataDir, name);
      return [name, existsSync(file) ? readFileSync(file).toString("base64") : ""];
    }),
  );
}
