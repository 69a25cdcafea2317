import { createClient } from "@libsql/client";
import { copyFileSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Environment } from "../../src/config.ts";
import { StartError } from "../../src/model/errors/errors.ts";
import { systemTime, type Time } from "../../src/model/time.ts";
import type { Progress } from "../../src/store/move/copy.ts";
import { moveDatabase, type MoveOptions } from "../../src/store/move/move.ts";
import { openStore } from "../../src/store/open.ts";
import { startCuttingProxy } from "../_setup/cutting-proxy.ts";
import { findSqld, startSqld, type LibsqlServer } from "../_setup/sqld.ts";
import { rawRows } from "../unit/store/rows.ts";
import { NODE_SETTINGS } from "../unit/store/temporary-config.ts";
import { configFor, silentLog, temporaryFolder } from "../unit/store/temporary.ts";

const sqld = findSqld();
/** The key stands in the environment, as for nodes. */
const KEY = { PARLEY_MASTER_KEY: NODE_SETTINGS.PARLEY_MASTER_KEY };
const ROWS = 2_500;
/** Stands in the second page of its table. */
const PAGE = "item 200";
const NEXT_PAGE = "item 701";

/** A data folder with a bit of everything that SQLite can hold, and gaps where rows are gone. */
async function filledFolder(env: Environment = KEY): Promise<{ dataDir: string; file: string }> {
  const dataDir = temporaryFolder();
  const store = await openStore(configFor(dataDir, env), silentLog(configFor(dataDir)));
  const sealed = store.box.seal("of Ana", "a context");
  await store.writer.commit([
    { sql: "INSERT INTO meta (key, value) VALUES ('text', ?)", args: ["a\u0000b – ü 🙂"] },
    {
      sql: "INSERT INTO wa_keys (device_id, type, id, value, updated_at) VALUES (1, 'pre-key', '1', ?, 5)",
      args: [sealed],
    },
    {
      sql: `INSERT INTO news (node, topic, item, at) WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${ROWS})
        SELECT 'a', 'keys', 'item ' || n, n * 1000000000000 FROM c`,
      args: [],
    },
    { sql: "DELETE FROM news WHERE id % 7 = 0 OR id > ?", args: [ROWS - 100] },
    { sql: "DELETE FROM meta WHERE key = 'text2'", args: [] },
  ]);
  await store.close();
  return { dataDir, file: join(dataDir, "parley.db") };
}

/** Everything in it, its schema and its counters. */
async function everything(url: string) {
  const client = createClient({ url, intMode: "bigint" });
  const { rows: schema } = await client.execute(
    "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'libsql%' ORDER BY name",
  );
  const tables = schema.filter(({ type }) => type === "table").map(({ name }) => String(name));
  const rows: Record<string, unknown> = {};
  for (const table of tables) {
    const found = await client.execute(
      `SELECT ${table === "sqlite_sequence" ? "" : "rowid, "}* FROM "${table}" ORDER BY 1`,
    );
    rows[table] = found.rows
      .map((row) =>
        Object.values(row).map((value) =>
          value instanceof ArrayBuffer ? Buffer.from(value).toString("hex") : value,
        ),
      )
      // What is said of the move itself belongs to one database alone.
      .filter((row) => !row.includes("moved_to") && !row.includes("moving"));
  }
  client.close();
  return { schema: schema.map((row) => ({ ...row })), rows };
}

const move = (dataDir: string, from: string, to: string, more: Partial<MoveOptions> = {}) => {
  const config = configFor(dataDir, KEY);
  return moveDatabase({
    config,
    log: silentLog(config),
    from,
    to,
    replace: false,
    onProgress: () => undefined,
    ...more,
  });
};

const hurried: Time = { ...systemTime, pause: async () => undefined };

async function server(): Promise<LibsqlServer> {
  return startSqld(sqld!);
}

describe.skipIf(sqld === null)("moving a database", () => {
  it("takes everything into a server as it is, and back, and leaves no second one that could be used", async () => {
    const { dataDir, file } = await filledFolder();
    const original = join(dataDir, "original.db");
    const { url } = await server();
    copyFileSync(file, original);
    const before = await everything(`file:${original}`);

    const moved = await move(dataDir, `file:${file}`, url);
    expect(moved.resumed).toBe(false);
    expect(await everything(url)).toEqual(before);
    await expect(openStore(configFor(dataDir, KEY), silentLog(configFor(dataDir)))).rejects.toThrow(
      /was moved to http.*set DATABASE_URL to that/,
    );
    const node = configFor(dataDir, { ...NODE_SETTINGS, DATABASE_URL: url });
    const store = await openStore(node, silentLog(node));
    const [row] = await rawRows(store, "SELECT value FROM wa_keys", []);
    expect(store.box.open(Buffer.from(row!["value"] as ArrayBuffer), "a context").toString()).toBe("of Ana");
    await store.writer.commit([
      { sql: "INSERT INTO news (node, topic, item, at) VALUES ('b', 'x', 'new', 1)", args: [] },
    ]);
    const [last] = await rawRows(store, "SELECT max(id) AS id FROM news", []);
    expect(last).toMatchObject({ id: ROWS + 1 });
    await store.close();

    const there = await everything(url);
    await expect(move(dataDir, url, `file:${file}`)).rejects.toThrow(
      /moved away from it; --replace moves it aside/,
    );
    const back = await move(dataDir, url, `file:${file}`, { replace: true });
    expect(existsSync(back.aside!)).toBe(true);
    expect(await everything(`file:${file}`)).toEqual(there);
    const alone = await openStore(configFor(dataDir, KEY), silentLog(configFor(dataDir)));
    await alone.close();
    await expect(openStore(node, silentLog(node))).rejects.toThrow(/was moved to file:/);
  });

  it("goes on where it was broken off, and no row is there twice when an answer is lost", async () => {
    const { dataDir, file } = await filledFolder();
    const { url, port } = await server();
    const proxy = await startCuttingProxy(port);
    const to = proxy.url;

    proxy.next("answer lost", PAGE);
    proxy.thenNext("request lost", NEXT_PAGE, 100);
    await expect(move(dataDir, `file:${file}`, to, { time: hurried })).rejects.toThrow(
      /interrupted in the table news: .*Run the same command again/,
    );
    const node = configFor(dataDir, { ...NODE_SETTINGS, DATABASE_URL: url });
    await expect(openStore(node, silentLog(node))).rejects.toThrow(/unfinished copy/);
    proxy.next("answer lost", NEXT_PAGE);
    const seen: Progress[] = [];
    const moved = await move(dataDir, `file:${file}`, to, {
      time: hurried,
      onProgress: (one) => void seen.push(one),
    });

    expect(moved.resumed).toBe(true);
    expect(seen.find(({ table }) => table === "news")!.rows).toBeGreaterThan(100);
    expect((await everything(url)).rows["news"]).toEqual((await everything(`file:${file}`)).rows["news"]);
  });

  it("starts over when a gateway has run on the original meanwhile", async () => {
    const { dataDir, file } = await filledFolder();
    const { url, port } = await server();
    const proxy = await startCuttingProxy(port);
    proxy.next("request lost", PAGE, 100);
    await expect(move(dataDir, `file:${file}`, proxy.url, { time: hurried })).rejects.toThrow(/interrupted/);

    const config = configFor(dataDir, KEY);
    await (await openStore(config, silentLog(config))).close();

    await expect(move(dataDir, `file:${file}`, url)).rejects.toThrow(/unfinished copy .*--replace/);
    await move(dataDir, `file:${file}`, url, { replace: true });
    expect((await everything(url)).rows).toEqual((await everything(`file:${file}`)).rows);
  });

  it("finds a row that is not what it was", async () => {
    const { dataDir, file } = await filledFolder();
    const { url } = await server();
    let spoilt: Promise<unknown> | null = null;
    const client = createClient({ url });
    onTestFinished(() => client.close());
    const spoil = ({ doing, table }: Progress): void => {
      if (doing === "indexing") spoilt ??= client.execute("UPDATE news SET item = 'item 2' WHERE id = 1");
      void table;
    };

    await expect(move(dataDir, `file:${file}`, url, { onProgress: spoil })).rejects.toThrow(
      /the table news has/,
    );
    await spoilt;
    const config = configFor(dataDir, KEY);
    await (await openStore(config, silentLog(config))).close();
  });

  it("refuses what is in use, has data, has another key, or does not keep what it is given", async () => {
    const { dataDir, file } = await filledFolder();
    const db = await server();
    const from = `file:${file}`;
    const config = configFor(dataDir, KEY);

    const running = await openStore(config, silentLog(config));
    await expect(move(dataDir, from, db.url)).rejects.toThrow(/in use by another Parley/);
    await running.close();
    const wrong = configFor(dataDir, { PARLEY_MASTER_KEY: Buffer.alloc(32, 8).toString("base64") });
    await expect(move(dataDir, from, db.url, { config: wrong })).rejects.toThrow(/master key does not fit/);
    await db.setDurability("relaxed");
    await expect(move(dataDir, from, db.url)).rejects.toThrow(/may lose acknowledged commits/);
    await db.setDurability("strong");
    await expect(move(dataDir, from, from)).rejects.toThrow(/between a file and a server/);

    const node = configFor(temporaryFolder(), { ...NODE_SETTINGS, DATABASE_URL: db.url });
    const store = await openStore(node, silentLog(node));
    await expect(move(dataDir, from, db.url)).rejects.toThrow(/is not empty; nothing in it was changed/);
    await store.writer.commit([
      {
        sql: "INSERT INTO nodes (name, incarnation, version, since, until) VALUES ('n1', 'x', '1', 0, (unixepoch() + 15) * 1000)",
        args: [],
      },
    ]);
    await store.close();
    await expect(move(dataDir, from, db.url)).rejects.toThrow(/in use by n1: stop every node/);
    expect(readdirSync(dataDir).some((name) => name.includes("aside"))).toBe(false);
    await expect(move(dataDir, from, "http://127.0.0.1:1")).rejects.toBeInstanceOf(StartError);
  });
});
