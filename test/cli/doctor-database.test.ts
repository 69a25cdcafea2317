import { createClient } from "@libsql/client";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { examineDatabase } from "../../src/cli/doctor/database.ts";
import type { Config } from "../../src/config.ts";
import { openStore } from "../../src/store/open.ts";
import { configFor, silentLog, temporaryFolder } from "../unit/store/temporary.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");

let config: Config;
const file = (): string => join(config.dataDir, "parley.db");
const run = (sql: string, args: (string | number | Uint8Array | null)[] = []) => {
  const client = createClient({ url: `file:${file()}` });
  return client.execute({ sql, args }).finally(() => client.close());
};
const examine = (repair = false) => examineDatabase(config, { repair, now: NOW });
const found = async (state: string, repair = false): Promise<string[]> =>
  (await examine(repair)).filter((finding) => finding.state === state).map(({ text }) => text);
const copies = (): string[] =>
  readdirSync(config.dataDir).filter((name) => name.includes("before-repair") && !name.endsWith("-wal"));
const rows = async (sql: string): Promise<unknown[]> => (await run(sql)).rows.map((row) => ({ ...row }));

beforeEach(async () => {
  config = configFor(temporaryFolder());
  const store = await openStore(config, silentLog(config));
  const key = store.box.seal("key", "wa_keys:1:session:whole");
  const moved = store.box.seal("key", "wa_keys:1:session:another");
  const body = store.box.seal("body", "inbox:1:elsewhere");
  await store.writer.commit([
    {
      sql: "INSERT INTO accounts (id, name, plan, enabled, created_at) VALUES ('a', 'A', 'pro', 1, 1)",
      args: [],
    },
    {
      sql: "INSERT INTO devices (id, account_id, number, state, since, created_at) VALUES (1, 'a', '31600000001', 'unlinked', 1, 1)",
      args: [],
    },
    {
      sql: "INSERT INTO wa_keys (device_id, type, id, value, updated_at) VALUES (1, 'session', 'whole', ?, 1)",
      args: [key],
    },
  ]);
  await store.close();
  sealed = { moved, body };
});
let sealed: { moved: Uint8Array; body: Uint8Array };

describe("the doctor of the database", () => {
  it("finds nothing wrong with one that is whole, and changes and copies nothing, also when it may repair", async () => {
    const before = readFileSync(file());

    expect(await found("bad")).toEqual([]);
    expect(await found("bad", true)).toEqual([]);

    expect(await found("good")).toHaveLength(4);
    expect(copies()).toEqual([]);
    expect(readFileSync(file()).equals(before)).toBe(true);
  });

  it("looks at nothing while a gateway runs on it", async () => {
    const store = await openStore(config, silentLog(config));

    const findings = await examine(true);
    await store.close();

    expect(findings).toMatchObject([
      { state: "note", text: expect.stringContaining("in use by another Parley") },
    ]);
  });

  it("names damage, repairs none of it, and leaves every byte", async () => {
    const damaged = readFileSync(file());
    damaged.fill(0xa5, 5 * 4096, 9 * 4096);
    writeFileSync(file(), damaged);

    expect((await found("bad", true)).join()).toMatch(/damaged.*restore/);

    expect(readFileSync(file()).equals(damaged)).toBe(true);
    expect(copies()).toEqual([]);
  });

  it("names a log that was changed, and does not open the database", async () => {
    // A folder that nobody has opened: the driver may delete the log of a closed database when memory is collected.
    const untouched = temporaryFolder();
    cpSync(config.dataDir, untouched, { recursive: true });
    config = configFor(untouched);
    const wal = Buffer.alloc(32 + 2 * (24 + 4096), 7);
    writeFileSync(`${file()}-wal`, wal);

    expect((await found("bad", true)).join()).toContain("parley.db-wal");

    expect(readFileSync(`${file()}-wal`).equals(wal)).toBe(true);
  });

  it("builds an index anew from its rows, after a copy", async () => {
    const client = createClient({ url: `file:${file()}`, concurrency: 1 });
    // While the index is a partial one, a row is written that it does not get.
    const index = "inbox_pending";
    const {
      rows: [was],
    } = await client.execute(`SELECT sql FROM sqlite_schema WHERE name = '${index}'`);
    await client.execute("PRAGMA writable_schema = ON");
    await client.execute({
      sql: "UPDATE sqlite_schema SET sql = ? WHERE name = ?",
      args: [String(was!["sql"]).replace("'pending'", "'nothing'"), index],
    });
    client.close();
    await run(
      "INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, timestamp, received_at, body) VALUES (1, 'c', 's', 'w', 0, 'text', 1, 1, ?)",
      [sealed.body],
    );
    const again = createClient({ url: `file:${file()}`, concurrency: 1 });
    await again.execute("PRAGMA writable_schema = ON");
    await again.execute({
      sql: "UPDATE sqlite_schema SET sql = ? WHERE name = ?",
      args: [was!["sql"] as string, index],
    });
    again.close();

    expect((await found("bad")).join()).toContain("an index is damaged");
    expect(copies()).toEqual([]);
    expect((await found("good", true)).join()).toContain("repaired: rebuilt the indexes");

    expect(copies()).toHaveLength(1);
    expect((await found("bad")).join()).not.toContain("index");
    expect(await rows("SELECT wa_id FROM inbox WHERE state = 'pending'")).toEqual([{ wa_id: "w" }]);
  });

  it("removes rows of numbers that are gone, and no others", async () => {
    await run(
      "INSERT INTO wa_keys (device_id, type, id, value, updated_at) VALUES (9, 'session', 'x', x'00', 1)",
    );
    await run("INSERT INTO outbox_history (outbox_id, state, at) VALUES (77, 'sent', 1)");

    expect((await found("note")).join()).toContain("2 rows belong to deleted numbers");
    expect((await found("good", true)).join()).toContain("repaired: removed 2 rows");

    expect(await rows("SELECT id FROM wa_keys")).toEqual([{ id: "whole" }]);
    expect(await rows("SELECT * FROM outbox_history")).toEqual([]);
    expect(copies()).toHaveLength(1);
  });

  it("names what does not open with its number; removes keys that renew themselves, and keeps messages", async () => {
    await run(
      "INSERT INTO wa_keys (device_id, type, id, value, updated_at) VALUES (1, 'session', 'moved', ?, 1)",
      [sealed.moved],
    );
    await run(
      "INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, timestamp, received_at, body) VALUES (1, 'c', 's', 'w', 0, 'text', 1, 1, ?)",
      [sealed.body],
    );
    // As imported messages lie.
    await run(
      "INSERT INTO inbox (id, device_id, chat, sender, wa_id, from_me, type, timestamp, received_at, body) VALUES (-9000, 1, 'c', 's', 'old', 0, 'text', 1, 1, ?)",
      [sealed.body],
    );
    await run("INSERT INTO wa_creds (device_id, value, updated_at) VALUES (1, x'00', 1)");

    const bad = await found("bad");
    expect(bad.find((text) => text.includes("wa_keys.value"))).toMatch(
      /^1 in .* of 31600000001 cannot be opened.*--repair/,
    );
    expect(bad.find((text) => text.includes("inbox.body"))).toMatch(/^2 in .* of 31600000001/);
    expect(bad.find((text) => text.includes("wa_creds.value"))).toContain("link it again");
    await examine(true);

    expect(await rows("SELECT id FROM wa_keys")).toEqual([{ id: "whole" }]);
    expect(await rows("SELECT wa_id FROM inbox ORDER BY id")).toEqual([{ wa_id: "old" }, { wa_id: "w" }]);
    expect(await rows("SELECT device_id FROM wa_creds")).toEqual([{ device_id: 1 }]);
  });

  it("says that another key does not fit, and removes nothing because of it", async () => {
    writeFileSync(join(config.dataDir, "master-key"), `${Buffer.alloc(32, 7).toString("base64")}\n`);

    expect((await found("bad", true)).join()).toContain("does not fit");

    expect(await rows("SELECT id FROM wa_keys")).toEqual([{ id: "whole" }]);
  });

  it("makes deliveries that wait for no time due", async () => {
    const insert = `INSERT INTO deliveries (id, device_id, message_id, chat, type, url, state, next_at, body, may_reply, created_at)
      VALUES (?, 1, 'm', 'c', 'message', 'http://x', ?, ?, x'00', 0, 1)`;
    await run(insert, ["lost", "retrying", null]);
    await run(insert, ["far", "pending", NOW + 400 * 86_400_000]);
    await run(insert, ["soon", "retrying", NOW + 60_000]);
    await run(insert, ["done", "delivered", null]);

    expect((await found("bad")).join()).toContain("2 deliveries are stuck");
    expect((await found("good", true)).join()).toContain("repaired: 2 stuck deliveries");

    expect(await rows("SELECT id, next_at FROM deliveries ORDER BY id")).toEqual([
      { id: "done", next_at: null },
      { id: "far", next_at: NOW },
      { id: "lost", next_at: NOW },
      { id: "soon", next_at: NOW + 60_000 },
    ]);
  });

  it("removes temporary files and no drafts of keys", async () => {
    mkdirSync(join(config.dataDir, "tmp", "half"), { recursive: true });
    writeFileSync(join(config.dataDir, "master-key.7.new"), "");

    expect((await found("note")).join()).toContain("1 temporary files");
    await examine(true);

    expect(readdirSync(join(config.dataDir, "tmp"))).toEqual([]);
    expect(readdirSync(config.dataDir)).toContain("master-key.7.new");
  });

  it("says what a large file still has of what was in the clear, and writes it anew, without a copy", async () => {
    const canary = "canary-7d21";
    const large = 300 * 1024 * 1024;
    const done = ["webhooks.url", "bot_bindings.config", "deliveries.url"].map((name) => `sealed:${name}`);
    await run("CREATE TABLE was_clear (text)");
    await run("INSERT INTO was_clear VALUES (?)", [canary.repeat(1_000)]);
    await run("DROP TABLE was_clear");
    await run("INSERT OR REPLACE INTO meta (key, value) VALUES ('sealed_traces', '1')");
    await run("DELETE FROM meta WHERE key LIKE 'sealed:%'");
    const traces = async (repair = false) =>
      (await examine(repair)).filter(({ name }) => name === "traces").map(({ text }) => text);

    expect((await traces(true)).join()).toContain("the gateway has not sealed all of them yet");
    for (const key of done) await run("INSERT INTO meta (key, value) VALUES (?, 'done')", [key]);
    expect((await traces()).join()).toContain("the next start rewrites the file");
    await run("PRAGMA wal_checkpoint(TRUNCATE)");
    // A hole: as long as a large database, and no byte more on the disk.
    truncateSync(file(), large);
    expect((await traces()).join()).toMatch(/too large .*While the gateway is stopped.*--repair/);
    expect(readFileSync(file()).includes(canary)).toBe(true);

    expect((await traces(true)).join()).toContain("was rewritten");

    expect(statSync(file()).size).toBeLessThan(large);
    for (const name of readdirSync(config.dataDir))
      expect([name, readFileSync(join(config.dataDir, name)).includes(canary)]).toEqual([name, false]);
    expect(copies()).toEqual([]);
    expect(await traces()).toEqual([]);
    expect(await found("bad")).toEqual([]);
  });
});
