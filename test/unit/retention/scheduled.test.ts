import { mkdirSync, readdirSync, writeFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import type { Draft } from "../../../src/model/content/drafts.ts";
import { createRetention } from "../../../src/retention/retention.ts";
import type { Store } from "../../../src/store/store.ts";
import { rawRows } from "../store/rows.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "../store/temporary.ts";

/** What is sent at its time may wait for a year, far longer than anything else is kept. */

const DAY = 86_400_000;
const SEALED = Buffer.from("sealed");
const ago = (days: number): number => Date.now() - days * DAY;

let store: Store;
let dataDir: string;
let drafts: Map<string, Draft>;
beforeEach(async () => {
  store = await temporaryStore();
  dataDir = temporaryFolder();
  mkdirSync(join(dataDir, "media"));
  drafts = new Map();
});

async function sweep(): Promise<void> {
  const retention = createRetention({
    store,
    config: { retentionDays: 30, auditLogDays: 365, dataDir },
    log: silentLog(configFor(dataDir)),
    sentContent: async (_, waId) => drafts.get(waId) ?? null,
  });
  await retention.run();
}

const run = (sql: string, ...args: (string | number)[]) => store.writer.commit([{ sql, args }]);

async function insert(
  table: string,
  row: Record<string, string | number | Uint8Array | null>,
): Promise<void> {
  const marks = Object.keys(row).map(() => "?");
  const sql = `insert into ${table} (${Object.keys(row).join(", ")}) values (${marks.join(", ")})`;
  await store.writer.commit([{ sql, args: Object.values(row) }]);
}

/** A message that was asked for 60 days ago. */
const message = (id: number, row: Record<string, string | number | null> = {}) =>
  insert("outbox", {
    id,
    device_id: 1,
    wa_id: `w${id}`,
    chat: "c",
    jid: "j",
    number: "n",
    kind: "text",
    origin: "api",
    is_reply: 0,
    state: "scheduled",
    body: SEALED,
    created_at: ago(60),
    send_at: ago(-60),
    ...row,
  });

/** The same with a picture. */
async function picture(id: number): Promise<void> {
  const file = `mf_${id}`;
  await message(id, { kind: "image" });
  drafts.set(`w${id}`, { kind: "image", file });
  const path = join("media", file);
  await insert("media_files", { id: file, device_id: 1, path, meta: SEALED, created_at: ago(60) });
  writeFileSync(join(dataDir, path), "x");
  utimesSync(join(dataDir, path), ago(60) / 1_000, ago(60) / 1_000);
}

const ids = async (table: string): Promise<unknown[]> =>
  (await rawRows(store, `select id from ${table} order by id`, [])).map(({ id }) => id);

async function left(): Promise<Record<string, unknown[]>> {
  const [messages, rows] = [await ids("outbox"), await ids("media_files")];
  return { messages, rows, files: readdirSync(join(dataDir, "media")).toSorted() };
}

/** Its time comes, as `outbox/sending/timed.ts` and the upload write it down. @param place its key from then on */
async function leaves(id: number, at: number, place: number): Promise<void> {
  await run(
    `update outbox set state = 'sent', scheduled_at = created_at, created_at = ?1, sent_at = ?1, id = ?3 where id = ?2`,
    at,
    id,
    place,
  );
  await run("update media_files set upload = 'x', uploaded_at = ? where id = ?", at, `mf_${id}`);
}

it("what waits for its time stays with its file; what was cancelled goes as what was sent long ago", async () => {
  for (const id of [1, 2, 3]) await picture(id);
  await message(4);
  await sweep();
  expect(await left()).toEqual({
    messages: [1, 2, 3, 4],
    rows: ["mf_1", "mf_2", "mf_3"],
    files: ["mf_1", "mf_2", "mf_3"],
  });

  await leaves(2, ago(31), 5);
  for (const [id, days] of [
    [3, 31],
    [4, 29],
  ] as const)
    await run("update outbox set state = 'cancelled', ended_at = ? where id = ?", ago(days), id);
  await sweep();
  expect(await left()).toEqual({ messages: [1, 4], rows: ["mf_1"], files: ["mf_1"] });
});

it("what left a moment ago stays with its file, however long it waited: phones may ask for it again", async () => {
  await picture(1);
  await leaves(1, ago(1), 2);
  await sweep();
  expect(await left()).toEqual({ messages: [2], rows: ["mf_1"], files: ["mf_1"] });
});

it("does not keep others that were sent behind it meanwhile, though there are many that left just now", async () => {
  for (let id = 1; id <= 250; id++) await message(id);
  await message(251, { state: "sent", created_at: ago(50), sent_at: ago(50), send_at: null });
  await message(252, { state: "sent", created_at: ago(20), sent_at: ago(20), send_at: null });
  for (let id = 1; id <= 250; id++) await leaves(id, ago(1), 252 + id);
  await sweep();
  const kept = await ids("outbox");
  expect(kept).toHaveLength(251);
  expect(kept).toContain(252);
  expect(kept).not.toContain(251);
});
