import Database from "libsql";
import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { removeFolder } from "../_setup/folders.ts";
import { closeWorld, keepWorld, type World } from "../_setup/world.ts";
import type { TranscriptEntry } from "../../src/simulator/types.ts";
import { judge, type Judged, type Script, type Verdict } from "../../src/demo/judge/judge.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";

let world: World;
let accepted: string[];

/** A conversation that went well; each test then falsifies one thing that the judge must see. */
beforeAll(async () => {
  world = await keepWorld();
  await world.link(SHOP);
  for (const contact of [ANA, BEN]) await world.sim.addContact(contact);
  await world.bindBots(SHOP, "ping");
  for (const text of ["ping", "hello", "ping"]) await world.sim.sendText(ANA, SHOP, text);
  await world.sim.sendText(BEN, SHOP, "ping");
  const sent = await world.gateway.post(
    "/send-message",
    { sender: SHOP, number: BEN, message: "ready" },
    { key: world.key },
  );
  accepted = [sent.body.results[0].id];
  await world.sim.waitForMessage(ANA, { text: "pong", count: 2 });
  await world.sim.waitForMessage(BEN, { from: SHOP, count: 2 });
  await world.sim.settle();
  await world.gateway.stop();
});
afterAll(() => closeWorld(world));

const script = (): Script => ({
  numbers: [SHOP],
  replies: ({ text }) => (text === "ping" ? 1 : 0),
  accepted,
  sends: 1,
});

/** The judgement of a copy of the database in which one thing is wrong. */
async function judgeAfter(sql: string, changed: Partial<Script> = {}): Promise<Verdict> {
  const dataDir = mkdtempSync(join(tmpdir(), "parley-judge-"));
  onTestFinished(() => removeFolder(dataDir));
  const file = join(dataDir, "parley.db");
  cpSync(join(world.gateway.dataDir, "parley.db"), file);
  const database = new Database(file);
  database.exec(sql);
  database.close();
  return judge({ sim: world.sim, dataDir }, { ...script(), ...changed });
}

/** The judgement of what the phones would have seen. */
function judgeSeeing(change: (seen: TranscriptEntry[]) => TranscriptEntry[]) {
  const sim: Judged["sim"] = {
    transcript: async (filter) => change(await world.sim.transcript(filter)),
    pending: (number) => world.sim.pending(number),
    violations: () => world.sim.violations(),
    channelPosts: (id) => world.sim.channelPosts(id),
  };
  return judge({ sim, dataDir: world.gateway.dataDir }, script());
}

const LAST = "(SELECT max(id) FROM inbox WHERE chat LIKE '4915100000001%')";

it("finds nothing wrong where nothing is, and says where it ended", async () => {
  const verdict = await judgeAfter("");
  expect(verdict).toMatchObject({ messages: 8, lost: 0, duplicated: 0, outOfOrder: 0, repeated: 0 });
  expect(verdict.problems).toEqual([]);
  expect(await judgeAfter("", { since: verdict.mark, accepted: [], sends: 0 })).toMatchObject({
    messages: 0,
  });
});

it.each([
  ["a message without an inbox row", `DELETE FROM inbox WHERE id = ${LAST}`, { lost: 1 }],
  [
    "a message with two inbox rows",
    `DROP INDEX inbox_message; INSERT INTO inbox (id, device_id, chat, sender, wa_id, from_me, type, state, timestamp, received_at, body) SELECT 99, device_id, chat, sender, wa_id, from_me, type, state, timestamp, received_at, body FROM inbox WHERE id = ${LAST}`,
    { duplicated: 1 },
  ],
  ["a message without its reply", `UPDATE outbox SET inbox_id = NULL WHERE inbox_id = ${LAST}`, { lost: 1 }],
  [
    "a message with two replies",
    `UPDATE outbox SET inbox_id = ${LAST} WHERE origin = 'api'`,
    { duplicated: 1 },
  ],
  ["a reply that failed", `UPDATE outbox SET state = 'failed' WHERE inbox_id = ${LAST}`, { lost: 1 }],
  ["a message that arrived and is in no row", "DELETE FROM outbox WHERE origin = 'api'", { duplicated: 1 }],
  ["a send that was stored twice", "UPDATE outbox SET origin = 'api'", { duplicated: 3 }],
  ["an accepted send without a row", "DELETE FROM outbox WHERE origin = 'api'", { lost: 2 }],
  [
    "a reply under another id than the one that arrived",
    `UPDATE outbox SET wa_id = 'X' WHERE inbox_id = ${LAST}`,
    { lost: 1, duplicated: 1 },
  ],
  [
    "messages stored in another order",
    `UPDATE inbox SET id = id + 100 WHERE id = (SELECT min(id) FROM inbox)`,
    { outOfOrder: 1 },
  ],
  [
    "replies stored in another order",
    `UPDATE outbox SET id = id + 100 WHERE id = (SELECT min(id) FROM outbox WHERE chat LIKE '${ANA}%')`,
    { outOfOrder: 2 },
  ],
])("counts %s", async (_, sql, expected) => {
  const verdict = await judgeAfter(sql);
  expect(verdict).toMatchObject(expected);
  expect(verdict.problems).not.toEqual([]);
});

it.each([
  ["inbox rows without a decision", "UPDATE inbox SET state = 'pending'"],
  ["done without a decision", "DELETE FROM decisions"],
  ["in the outbox without an outcome", "UPDATE outbox SET state = 'queued'"],
  ["in the journal", "UPDATE journal SET content = x'00'"],
])("names what waits: %s", async (name, sql) => {
  expect((await judgeAfter(sql)).problems.join("\n")).toContain(name);
});

it("finds a damaged index", async () => {
  const damaged =
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'outbox_wa_id') WHERE name = 'decisions_device'";
  expect((await judgeAfter(damaged)).problems.join("\n")).toContain("damaged");
});

it("counts what phones did not get, could not read, got twice and got in another order", async () => {
  const toAna = (entry: { to: string; device: number }) => entry.to === ANA && entry.device === 0;
  expect(await judgeSeeing((seen) => seen.filter((entry) => !toAna(entry)))).toMatchObject({ lost: 2 });
  const unread = await judgeSeeing((seen) =>
    seen.map((entry) => (toAna(entry) ? { ...entry, decrypted: false } : entry)),
  );
  expect(unread).toMatchObject({ lost: 2 });
  const again = await judgeSeeing((seen) => [
    ...seen,
    ...seen.filter(toAna).map((entry) => ({ ...entry, seq: entry.seq + 1000, ordinal: 2 })),
  ]);
  expect(again).toMatchObject({ repeated: 2, duplicated: 0, outOfOrder: 0, problems: [] });
  const backwards = await judgeSeeing((seen) =>
    seen.map((entry) => (toAna(entry) ? { ...entry, seq: -entry.seq } : entry)),
  );
  expect(backwards).toMatchObject({ outOfOrder: 1, lost: 0 });
});

it("compares the calls of the webhook with the inbox, repetitions left out", async () => {
  const ids = (await world.sim.transcript({ contact: ANA, direction: "to_companion" })).map(({ id }) => id);
  const called = (order: string[]) => judgeAfter("", { events: order.map((id) => ({ chat: ANA, id })) });
  expect(await called([ids[0]!, ids[0]!, ids[1]!, ids[0]!, ids[2]!])).toMatchObject({ outOfOrder: 0 });
  expect(await called([ids[1]!, ids[0]!, ids[2]!])).toMatchObject({ outOfOrder: 1 });
});

it("lets what the webhook refused be told later, and what got no answer twice; one without an answer keeps its place", async () => {
  const ids = (await world.sim.transcript({ contact: ANA, direction: "to_companion" })).map(({ id }) => id);
  const events = [ids[1]!, ids[0]!, ids[2]!].map((id) => ({ chat: ANA, id }));
  const attempts = (...made: [status: number | null, error: string | null][]): string =>
    `INSERT INTO deliveries (id, device_id, inbox_id, message_id, chat, type, url, state, attempts, body, may_reply, created_at)
      SELECT 'late', device_id, id, wa_id, chat, 'text', x'00', 'delivered', 2, x'00', 0, 0 FROM inbox WHERE wa_id = '${ids[0]!}';
    INSERT INTO delivery_attempts (delivery_id, attempt, at, duration_ms, status_code, error) VALUES
    ${made.map(([status, error], index) => `('late', ${index + 1}, ${index}, 0, ${status}, ${error && `'${error}'`})`).join(", ")}`;
  const accepted: [number, null] = [200, null];
  const outOfOrder = async (...made: [status: number | null, error: string | null][]) =>
    (await judgeAfter(attempts(...made), { events })).outOfOrder;

  expect(await outOfOrder(accepted)).toBe(1);
  expect(await outOfOrder([503, "HTTP 503"], accepted)).toBe(0);
  expect(await outOfOrder([null, "cut"], [null, "cut"], accepted)).toBe(0);
  expect(await outOfOrder([null, "cut"], accepted)).toBe(1);

  const verdict = await judgeAfter(attempts([null, "cut"], accepted), {
    events,
    accepts: true,
    kills: [1_000],
  });
  const [refused, late] = verdict.problems;
  expect(refused).toBe(`the webhook of ${SHOP} was not told of ${ids[0]!} at once: cut`);
  expect(late).toContain("00:00:00.000 no answer (cut), 00:00:00.001 200");
  expect(late).toContain("killed at 00:00:01.000");
});
