import { createClient } from "@libsql/client";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { webhooks } from "../../../drizzle/schema.ts";
import { openOnceClear } from "../../../src/store/sealed/once-clear.ts";
import { openStore } from "../../../src/store/open.ts";
import { createSealing } from "../../../src/store/sealed/sealing.ts";
import { defineQuery } from "../../../src/store/query.ts";
import { rotateMasterKey } from "../../../src/store/sealed/rotate.ts";
import type { Statement, Store } from "../../../src/store/store.ts";
import { configFor, silentLog, temporaryFolder } from "./temporary.ts";
import { rawRows } from "./rows.ts";

const CANARY = "canary-9f31b7";
const url = (n: number): string => `https://example.com/hook/${n}?token=${CANARY}`;

/** Rows as version 0.2 wrote them. */
function clearRows(count: number): Statement[] {
  const delivery = (n: number): Statement => ({
    sql: `INSERT INTO deliveries (id, device_id, message_id, chat, type, url, state, body, may_reply, created_at)
      VALUES (?, 1, 'm', 'c', 'text', ?, 'delivered', x'00', 1, ?)`,
    args: [`msg_${n}`, url(n), n],
  });
  return [
    {
      sql: `INSERT INTO webhooks (device_id, url, mode, reply_to, events, headers, timeout_ms, reply_max_age, read, typing, enabled, secret, updated_at)
        VALUES (1, ?, 'fallback', 'chat', '[]', x'00', 1, 1, 0, 0, 1, x'00', 0)`,
      args: [url(0)],
    },
    {
      sql: "INSERT INTO bot_bindings VALUES (1, 'shop', 1, NULL, ?), (1, 'ping', 1, NULL, NULL)",
      args: [JSON.stringify({ crmToken: CANARY })],
    },
    ...Array.from({ length: count }, (_, n) => delivery(n)),
  ];
}

async function folder(count: number) {
  const config = configFor(temporaryFolder());
  const log = silentLog(config);
  const open = async (): Promise<Store> => {
    const store = await openStore(config, log);
    onTestFinished(() => store.close());
    return store;
  };
  const store = await open();
  // A folder that was never looked through.
  await store.writer.commit([{ sql: "DELETE FROM meta WHERE key LIKE 'sealed%'", args: [] }]);
  for (let from = 0, all = clearRows(count); from < all.length; from += 500)
    await store.writer.commit(all.slice(from, from + 500));
  return { config, log, store, open, sealing: createSealing({ store, log }) };
}

const clear = async (store: Store): Promise<number> => {
  const [row] = await rawRows(
    store,
    `SELECT (SELECT count(*) FROM deliveries WHERE typeof(url) = 'text') + (SELECT count(*) FROM webhooks WHERE typeof(url) = 'text')
      + (SELECT count(*) FROM bot_bindings WHERE typeof(config) = 'text') AS n`,
    [],
  );
  return Number(row!["n"]);
};
const filesWith = (dataDir: string, text: string): string[] =>
  readdirSync(dataDir).filter((name) => readFileSync(join(dataDir, name)).includes(text));
const WEBHOOK_URL = defineQuery("SELECT url FROM webhooks", { url: webhooks.url });

describe("what an earlier version wrote in the clear", () => {
  it("is sealed at the start, opens as before, and after the next start no byte of it is in the folder", async () => {
    const { config, store, open, sealing } = await folder(450);
    expect(filesWith(config.dataDir, CANARY)).not.toEqual([]);

    sealing.start();
    await sealing.finished();

    expect(await clear(store)).toBe(0);
    const sealedUrl = (await store.readOne(WEBHOOK_URL))!.url;
    expect(Buffer.isBuffer(sealedUrl)).toBe(true);
    expect(openOnceClear(store.box, sealedUrl, "webhook-url:1")).toBe(url(0));
    const [row] = await rawRows(store, "SELECT url FROM deliveries WHERE id = 'msg_449'", []);
    expect(openOnceClear(store.box, Buffer.from(row!["url"] as ArrayBuffer), "delivery-url:msg_449")).toBe(
      url(449),
    );
    await store.close();
    await (await open()).close();
    expect(filesWith(config.dataDir, CANARY)).toEqual([]);
  });

  it("is sealed a few rows at a time, and a start goes on where the last one ended", async () => {
    const { log, store, sealing } = await folder(1_000);
    let largest = 0;
    const { commit } = store.writer;
    const watched: Store = {
      ...store,
      writer: {
        ...store.writer,
        commit: (statements) => ((largest = Math.max(largest, statements.length)), commit(statements)),
      },
    };
    const first = createSealing({ store: watched, log });
    first.start();
    while ((await clear(store)) > 800) await new Promise((resolve) => setImmediate(resolve));
    await first.stop();
    const left = await clear(store);
    expect(left).toBeGreaterThan(0);

    let read = 0;
    const counting: Store = {
      ...store,
      read: async (query, args) => {
        const rows = await store.read(query, args);
        if (/FROM deliveries/.test(query.sql)) read += rows.length;
        return rows;
      },
    };
    const second = createSealing({ store: counting, log });
    second.start();
    await second.finished();

    expect(await clear(store)).toBe(0);
    expect(largest).toBeLessThanOrEqual(202);
    expect(read).toBeLessThanOrEqual(left);
    sealing.start();
    await sealing.finished();
    expect(read).toBeLessThanOrEqual(left);
  });

  it("opens while it is still clear, and a new master key leaves it to be sealed with that one", async () => {
    const { config, store, open } = await folder(3);
    expect(openOnceClear(store.box, (await store.readOne(WEBHOOK_URL))!.url, "webhook-url:1")).toBe(url(0));
    // What is no seal does not open with any key.
    await store.writer.commit([
      {
        sql: "UPDATE webhooks SET headers = ?, secret = ?",
        args: [store.box.seal("{}", "webhook-headers:1"), store.box.seal("s", "webhook-secret:1")],
      },
      { sql: "DELETE FROM deliveries WHERE id <> 'msg_0'", args: [] },
      { sql: "UPDATE deliveries SET body = ?", args: [store.box.seal("{}", "delivery:msg_0")] },
    ]);
    await store.close();

    await rotateMasterKey(config, null);

    const again = await open();
    const sealing = createSealing({ store: again, log: silentLog(config) });
    sealing.start();
    await sealing.finished();
    expect(await clear(again)).toBe(0);
    expect(openOnceClear(again.box, (await again.readOne(WEBHOOK_URL))!.url, "webhook-url:1")).toBe(url(0));
    await again.close();
    // And a change of the key seals it anew.
    await rotateMasterKey(config, null);
    const last = await open();
    expect(openOnceClear(last.box, (await last.readOne(WEBHOOK_URL))!.url, "webhook-url:1")).toBe(url(0));
  });

  it("of a new folder is nothing, and nothing is looked for at its later starts", async () => {
    const { config, store, log } = await folder(0);
    const sealing = createSealing({ store, log });
    sealing.start();
    await sealing.finished();
    let reads = 0;
    const counting: Store = { ...store, read: (query, args) => (reads++, store.read(query, args)) };
    const next = createSealing({ store: counting, log });

    next.start();
    await next.finished();

    expect(reads).toBe(0);
    const client = createClient({ url: config.databaseUrl });
    const { rows } = await client.execute("SELECT value FROM meta WHERE key LIKE 'sealed:%'");
    client.close();
    expect(rows.map(({ value }) => value)).toEqual(["done", "done", "done"]);
  });
});
