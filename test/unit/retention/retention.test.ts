import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Draft } from "../../../src/model/content/drafts.ts";
import { createRetention, type Retention } from "../../../src/retention/retention.ts";
import type { Store } from "../../../src/store/store.ts";
import { scansOf, watchStatements } from "../store/query-plan.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "../store/temporary.ts";
import { rawRows } from "../store/rows.ts";

const DAY = 86_400_000;
const NOTHING = Buffer.from("sealed");
let store: Store;
let dataDir: string;
let drafts: Map<string, Draft>;

const ago = (days: number): number => Date.now() - days * DAY;

function retention(retentionDays = 30): Retention {
  const config = configFor(dataDir);
  return createRetention({
    store,
    config: { retentionDays, auditLogDays: 365, dataDir },
    log: silentLog(config),
    sentContent: async (deviceId, waId) => drafts.get(`${deviceId}:${waId}`) ?? null,
  });
}

beforeEach(async () => {
  store = await temporaryStore();
  dataDir = temporaryFolder();
  drafts = new Map();
});

async function insert(
  table: string,
  row: Record<string, string | number | Uint8Array | null>,
): Promise<void> {
  const names = Object.keys(row);
  const marks = names.map(() => "?").join(", ");
  const sql = `insert into ${table} (${names.map((name) => `"${name}"`).join(", ")}) values (${marks})`;
  await store.writer.commit([{ sql, args: Object.values(row) }]);
}

async function column(sql: string): Promise<unknown[]> {
  return (await rawRows(store, sql, [])).map((row) => Object.values(row)[0]);
}

const message = (id: number, days: number, state = "done") =>
  insert("inbox", {
    id,
    device_id: 1,
    chat: "c",
    sender: "s",
    wa_id: `w${id}`,
    from_me: 0,
    type: "text",
    state,
    timestamp: 0,
    received_at: ago(days),
    body: NOTHING,
  });

const decision = (inboxId: number, days: number) =>
  insert("decisions", {
    inbox_id: inboxId,
    device_id: 1,
    chat: "c",
    wa_id: `w${inboxId}`,
    trail: "[]",
    at: ago(days),
  });

async function delivery(id: string, days: number, state: string, inboxId = 0): Promise<void> {
  await insert("deliveries", {
    id,
    device_id: 1,
    inbox_id: inboxId,
    message_id: "m",
    chat: "c",
    type: "text",
    url: "u",
    state,
    body: NOTHING,
    may_reply: 1,
    created_at: ago(days),
  });
  await insert("delivery_attempts", { delivery_id: id, attempt: 1, at: ago(days), duration_ms: 1 });
}

async function sent(id: number, days: number, state = "sent", kind = "text"): Promise<void> {
  await insert("outbox", {
    id,
    device_id: 1,
    wa_id: `w${id}`,
    chat: "c",
    jid: "j",
    number: "n",
    kind,
    origin: "api",
    is_reply: 0,
    state,
    body: NOTHING,
    created_at: ago(days),
  });
  await insert("outbox_history", { outbox_id: id, state: "sent", at: ago(days) });
}

const vote = (pollId: string, days: number) =>
  insert("poll_votes", { device_id: 1, poll_id: pollId, voter: "v", selected: NOTHING, voted_at: ago(days) });

const mediaFile = (id: string, days: number) =>
  insert("media_files", { id, device_id: 1, path: join("media", id), meta: NOTHING, created_at: ago(days) });

/** @param days since it was written */
function file(path: string, days: number): void {
  const full = join(dataDir, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, "x");
  utimesSync(full, ago(days) / 1000, ago(days) / 1000);
}

const left = (folder: string): string[] => readdirSync(join(dataDir, folder)).toSorted();

describe("what is older than RETENTION_DAYS", () => {
  it("looks at one table at a time, and others have their turn in between", async () => {
    const tables = { now: 0, most: 0 };
    const read = store.read;
    const watched: Store = {
      ...store,
      read(query, args) {
        tables.most = Math.max(tables.most, ++tables.now);
        return read(query, args);
      },
    };
    store = watched;
    let done = false;
    const count = (): void => {
      tables.now = 0;
      if (!done) setImmediate(count);
    };
    count();
    await retention().run();
    done = true;

    expect(tables.most).toBe(1);
  });

  it("goes: messages, decisions, deliveries with their attempts, sent messages with their history", async () => {
    await message(1, 31);
    await message(2, 29);
    await decision(1, 31);
    await decision(2, 29);
    await delivery("old", 31, "delivered");
    await delivery("dead", 31, "dead");
    await delivery("off", 31, "disabled");
    await delivery("young", 29, "delivered");
    await sent(1, 31);
    await sent(2, 31, "failed");
    await sent(3, 29);

    await retention().run();

    expect(await column("select id from inbox")).toEqual([2]);
    expect(await column("select inbox_id from decisions")).toEqual([2]);
    expect(await column("select id from deliveries")).toEqual(["young"]);
    expect(await column("select delivery_id from delivery_attempts")).toEqual(["young"]);
    expect(await column("select id from outbox")).toEqual([3]);
    expect(await column("select outbox_id from outbox_history")).toEqual([3]);
  });

  it("stays while it is pending, and does not keep others that came later", async () => {
    await message(1, 90, "pending");
    await message(2, 80);
    await message(3, 70);
    await delivery("waits", 80, "retrying", 2);
    await delivery("also", 80, "pending", 2);
    await delivery("done", 70, "delivered", 3);
    await sent(1, 90, "queued");
    await sent(2, 80);

    await retention().run();

    expect(await column("select id from inbox")).toEqual([1, 2]);
    expect(await column("select id from deliveries order by id")).toEqual(["also", "waits"]);
    expect(await column("select count(*) from delivery_attempts")).toEqual([2]);
    expect(await column("select id from outbox")).toEqual([1]);
    expect(await column("select outbox_id from outbox_history")).toEqual([1]);
  });

  it("is deleted in several batches when there is much of it, behind what has to stay", async () => {
    for (let id = 1; id <= 450; id++) await message(id, 40, id <= 205 ? "pending" : "done");
    await message(451, 1);

    await retention().run();

    expect(await column("select count(*) from inbox where state = 'done'")).toEqual([1]);
    expect(await column("select count(*) from inbox where state = 'pending'")).toEqual([205]);
  });

  it("is kept for a week where phones may ask for it again", async () => {
    await message(1, 3);
    await sent(1, 3);
    await sent(2, 8);
    await mediaFile("mf_young", 3);
    await mediaFile("mf_old", 8);
    await mediaFile("mu_young", 0.9);
    await mediaFile("mu_old", 1.5);

    await retention(1).run();

    expect(await column("select id from inbox")).toEqual([]);
    expect(await column("select id from outbox")).toEqual([1]);
    expect(await column("select id from media_files order by id")).toEqual(["mf_young", "mu_young"]);
  });

  it("goes for what has waited too long when it has been ended for as long, not when it was queued so long ago", async () => {
    for (const [id, endedDaysAgo] of [
      [1, 0],
      [2, 31],
    ] as const) {
      await sent(id, 70, "expired");
      await store.writer.commit([
        { sql: "update outbox set ended_at = ? where id = ?", args: [ago(endedDaysAgo), id] },
      ]);
    }

    await retention().run();

    expect(await column("select id from outbox")).toEqual([1]);
  });

  it("takes a poll's votes along with the poll, and no vote of a poll that stays", async () => {
    await sent(1, 31, "sent", "poll");
    await sent(2, 29, "sent", "poll");
    await vote("w1", 1);
    await vote("w2", 29);
    await vote("of somebody else, old", 31);
    await vote("of somebody else, young", 1);

    await retention().run();

    expect(await column("select poll_id from poll_votes order by poll_id")).toEqual([
      "of somebody else, young",
      "w2",
    ]);
  });

  it("answers to sends with a key of their own go after a day", async () => {
    for (const [key, days] of [
      ["old", 1.1],
      ["young", 0.9],
    ] as const)
      await insert("idempotency", {
        key_id: "k",
        route: "r",
        idem_key: key,
        fingerprint: "f",
        created_at: ago(days),
      });

    await retention().run();

    expect(await column("select idem_key from idempotency")).toEqual(["young"]);
  });
});

describe("what nobody needs any more", () => {
  const step = (inboxId: number) =>
    insert("bot_steps", { inbox_id: inboxId, device_id: 1, bot_id: "b", key: "k", value: NOTHING });
  const chat = (name: string, days: number, more: Record<string, number> = {}) =>
    insert("chat_state", { device_id: 1, chat: name, last_incoming_at: ago(days), ...more });

  it("goes: steps of bots whose message is decided, and chats that were silent for a year", async () => {
    await message(1, 1, "pending");
    await message(2, 1);
    for (const inboxId of [1, 2, 3]) await step(inboxId);
    await chat("silent", 400);
    await chat("known", 300);
    await chat("held", 400, { held_until: Date.now() + DAY });

    await retention().run();

    expect(await column("select inbox_id from bot_steps")).toEqual([1]);
    expect(await column("select chat from chat_state order by chat")).toEqual(["held", "known"]);
  });

  it("goes: sessions and links that are over, and changes that were logged longer ago than is wanted", async () => {
    const words = { hash: "", credential: "", account_id: "a", created_at: 0, last_used_at: 0 };
    for (const [id, ends] of [
      ["over", ago(1)],
      ["open", ago(-1)],
    ] as const) {
      await insert("sessions", {
        ...words,
        id,
        hash: id,
        kind: "key",
        address: "",
        user_agent: "",
        ends_at: ends,
      });
      const link = { device_id: 1, number: "1", made_by: "key", expires_at: ends };
      await insert("links", { ...words, ...link, id, hash: id });
    }
    for (const [action, days] of [
      ["old", 366],
      ["young", 364],
    ] as const)
      await insert("audit_log", {
        actor_kind: "operator",
        action,
        request_id: "r",
        address: "",
        created_at: ago(days),
      });

    await retention().run();

    expect(await column("select id from sessions")).toEqual(["open"]);
    expect(await column("select id from links")).toEqual(["open"]);
    expect(await column("select action from audit_log")).toEqual(["young"]);
  });

  it("is looked for in small steps, by keys and indexes", async () => {
    const watched = watchStatements(store);
    store = watched.store;
    for (let id = 1; id <= 250; id++) await message(id, 40);
    await delivery("waits", 40, "retrying", 7);
    await sent(1, 40, "queued", "image");
    await step(1);
    await chat("c", 400);
    await vote("p", 40);
    await mediaFile("mf_old", 40);
    watched.seen.length = 0;
    watched.affected.length = 0;

    await retention().run();
    const made = [...watched.seen];

    expect(Math.max(...watched.affected)).toBeLessThanOrEqual(500);
    for (const statement of made)
      expect({ sql: statement.sql, scans: await scansOf(store, statement) }).toEqual({
        sql: statement.sql,
        scans: [],
      });
  });
});

describe("files", () => {
  it("go with their rows; what waits to be sent keeps its file", async () => {
    await sent(1, 60, "queued", "image");
    drafts.set("1:w1", { kind: "image", file: "mf_waits" });
    await mediaFile("mf_waits", 60);
    await mediaFile("mf_old", 60);
    await mediaFile("mf_young", 1);
    for (const name of ["mf_waits", "mf_old", "mf_young"]) file(`media/${name}`, 60);

    await retention().run();

    expect(left("media")).toEqual(["mf_waits", "mf_young"]);
    expect(await column("select id from media_files order by id")).toEqual(["mf_waits", "mf_young"]);
  });

  it("that no row names go, unless they were only just written", async () => {
    await message(5, 1);
    file("media/in/1-5", 20);
    file("media/in/1-6", 20);
    file("media/in/2-5", 20);
    file("media/in/1-7.ab12cd34.part", 1);
    file("media/in/1-8", 0);
    file("media/mf_crashed", 1);
    file("media/mf_new", 0);
    file("tmp/work/clear.bin", 1);
    utimesSync(join(dataDir, "tmp/work"), ago(1) / 1000, ago(1) / 1000);
    file("tmp/now/clear.bin", 0);

    await retention().run();

    expect(left("media/in")).toEqual(["1-5", "1-8"]);
    expect(left("media")).toEqual(["in", "mf_new"]);
    expect(left("tmp")).toEqual(["now"]);
  });

  it("are no reason to fail when there are none", async () => {
    await message(1, 31);
    await retention().run();
    expect(await column("select id from inbox")).toEqual([]);
  });
});

it("stops in the middle and leaves the rest for the next run", async () => {
  for (let id = 1; id <= 300; id++) await message(id, 40);
  const stopped = retention();
  stopped.start();
  await stopped.stop();
  const after = Number((await column("select count(*) from inbox"))[0]);
  expect(after).toBeGreaterThanOrEqual(100);

  await retention().run();
  expect(await column("select count(*) from inbox")).toEqual([0]);
});
