import { getTableName, is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { beforeEach, describe, expect, it } from "vitest";
import * as schema from "../../../drizzle/schema.ts";
import {
  eraseContact,
  readContact,
  type ContactOf,
  type ContactRow,
} from "../../../src/retention/contact.ts";
import { contextOf, SEALED_COLUMNS } from "../../../src/store/sealed/sealed-columns.ts";
import type { Store } from "../../../src/store/store.ts";
import { rawRows } from "../store/rows.ts";
import { temporaryStore } from "../store/temporary.ts";

type Value = string | number | Buffer | null;
type Row = Record<string, Value>;

const SHOP = 1;
const OTHER_SHOP = 2;
const GROUP = "120363000000000001@g.us";
const pn = (digits: string): string => `${digits}@s.whatsapp.net`;
const ANA: ContactOf = { deviceId: SHOP, addresses: [pn("4915100000001"), "81000000000001@lid"] };
const BEN = [pn("4915100000002"), "81000000000002@lid"];

const TABLES = Object.values(schema)
  .filter((one) => is(one, SQLiteTable))
  .map((table) => ({ name: getTableName(table), columns: getTableConfig(table).columns }));

/** Tables that the export has nothing of, though they may be about a person, or what they are about instead. */
const WITHOUT: Record<string, string> = {
  ...Object.fromEntries(
    ["meta", "commit_fences", "leases", "nodes", "news", "send_counts", "send_wakes", "connections"].map(
      (name) => [name, "of the gateway itself"],
    ),
  ),
  ...Object.fromEntries(
    ["accounts", "api_keys", "sessions", "links", "devices", "webhooks", "listeners", "bot_bindings"].map(
      (name) => [name, "of the customer"],
    ),
  ),
  ...Object.fromEntries(
    ["audit_hours", "traffic_hours", "traffic_totals", "allowance_uses", "reachout_locks", "send_brakes"].map(
      (name) => [name, "counts, of nobody in particular"],
    ),
  ),
  audit_log: "what the customer's people have done, which includes the receipt of an erasure",
  wa_creds: "the number's own keys",
  wa_keys: "keys: without them the contact could not write any more",
  lid_map: "which LID a number has: without it the contact would be two people",
  journal: "ciphertexts by their hash, and what they hold until it is in the inbox",
  erased_devices: "ids of numbers that are gone",
  group_lists: "what WhatsApp last said of groups, asked again within a minute",
  channels: "channels, which no contact is",
  media_files: "files by their message: received ones go with it, sent ones after a day",
  idempotency: "answers by the caller's key, for a day",
  idempotency_claims: "requests by the caller's key, while they are made",
  bot_steps: "results of a message that waits to be decided; gone with its decision",
  // Their parents' rows have them.
  delivery_attempts: "of a delivery",
  outbox_history: "of a sent message",
};

let store: Store;
let serial: number;
beforeEach(async () => {
  store = await temporaryStore();
  serial = 0;
});

/** A row with what is given; whatever else it needs is made up, and what is sealed holds `text`. @returns its serial number */
async function insert(table: string, given: Row, text = "something"): Promise<number> {
  const id = ++serial;
  const { columns } = TABLES.find(({ name }) => name === table)!;
  const row: Row = {};
  for (const { name, notNull, hasDefault, dataType, primary } of columns) {
    if (given[name] !== undefined) row[name] = given[name];
    else if (name === "id" || (notNull && !hasDefault && !primary))
      row[name] =
        dataType === "number" ? id : dataType === "boolean" ? 0 : dataType === "json" ? "[]" : `x${id}`;
  }
  for (const sealed of SEALED_COLUMNS.filter((one) => one.table === table))
    if (sealed.column in row || table === "contacts")
      row[sealed.column] = store.box.seal(JSON.stringify({ text }), contextOf(sealed, row));
  const names = Object.keys(row);
  const sql = `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join()}) VALUES (${names.map(() => "?").join()})`;
  await store.writer.commit([{ sql, args: Object.values(row) }], { owning: null });
  return id;
}

/** Something in each place where a person can be, under one of the person's addresses. */
async function insertAll(device_id: number, address: string, text: string): Promise<void> {
  const digits = address.slice(0, address.indexOf("@"));
  const own = { device_id };
  const inbox_id = await insert("inbox", { ...own, chat: address, sender: address, state: "done" }, text);
  await insert("decisions", { ...own, inbox_id, chat: address });
  const delivery = await insert("deliveries", { ...own, inbox_id, chat: address, state: "delivered" }, text);
  await insert("delivery_attempts", { delivery_id: `x${delivery}`, attempt: 1 }, text);
  const outbox_id = await insert("outbox", { ...own, chat: address, state: "sent" }, text);
  await insert("outbox_history", { outbox_id, state: "sent", at: 1 });
  await insert("missing_messages", { ...own, chat: address, sender: address, wa_id: "m" });
  await insert("poll_votes", { ...own, poll_id: "p", voter: address }, text);
  for (const table of ["chat_state", "chat_settings", "chat_timers"])
    await insert(table, { ...own, chat: address });
  await insert("contacts", { ...own, person: address }, text);
  if (address.endsWith("@s.whatsapp.net")) await insert("number_checks", { ...own, number: digits });
  await insert("bot_sessions", { ...own, bot_id: "b", scope: address }, text);
  await insert("bot_dialogues", { ...own, scope: address }, text);
  await insert("bot_timers", { ...own, bot_id: "b", scope: address, key: "k" }, text);
  await insert("bot_store", { ...own, bot_id: "b", key: `points:${digits}` }, text);
  // In a group: what the person wrote there, what came of it, and what a bot remembers of the person.
  const inGroup = await insert("inbox", { ...own, chat: GROUP, sender: address, state: "done" }, text);
  await insert("decisions", { ...own, inbox_id: inGroup, chat: GROUP });
  await insert("deliveries", { ...own, inbox_id: inGroup, chat: GROUP, state: "delivered" }, text);
  await insert("missing_messages", { ...own, chat: GROUP, sender: address, wa_id: "g" });
  await insert("bot_sessions", { ...own, bot_id: "b", scope: `${GROUP}|${address}` }, text);
  await insert("bot_dialogues", { ...own, scope: `${GROUP}|${address}` }, text);
  await insert("bot_timers", { ...own, bot_id: "b", scope: `${GROUP}|${address}`, key: "k" }, text);
}

/** Everybody's: Ana's by both of her addresses, Ben's, the group's own, and Ana's at another number. */
async function everybody(): Promise<void> {
  for (const address of ANA.addresses) await insertAll(SHOP, address, "of Ana");
  for (const address of BEN) await insertAll(SHOP, address, "of Ben");
  await insertAll(OTHER_SHOP, ANA.addresses[0]!, "of Ana elsewhere");
  for (const table of ["chat_state", "chat_settings", "chat_timers"])
    await insert(table, { device_id: SHOP, chat: GROUP });
  await insert("outbox", { device_id: SHOP, chat: GROUP, state: "sent" }, "to the group");
}

async function exportOf(contact: ContactOf): Promise<ContactRow[]> {
  const rows: ContactRow[] = [];
  for await (const row of readContact(store, contact)) rows.push(row);
  return rows;
}

const count = async (table: string): Promise<number> =>
  Number(Object.values((await rawRows(store, `SELECT count(*) FROM ${table}`, []))[0]!)[0]);
async function counts(): Promise<Record<string, number>> {
  const all: Record<string, number> = {};
  for (const { name } of TABLES) if (name !== "meta") all[name] = await count(name);
  return all;
}
const tally = (rows: ContactRow[]): Record<string, number> => {
  const found: Record<string, number> = {};
  for (const { table } of rows) found[table] = (found[table] ?? 0) + 1;
  return found;
};

/** By each of the two addresses one, and in groups as well; a check is by the number alone. */
const OF_ANA = {
  inbox: 4,
  decisions: 4,
  deliveries: 4,
  outbox: 2,
  missing_messages: 4,
  poll_votes: 2,
  chat_state: 2,
  chat_settings: 2,
  chat_timers: 2,
  contacts: 2,
  number_checks: 1,
  bot_sessions: 4,
  bot_dialogues: 4,
  bot_timers: 4,
  bot_store: 2,
};

describe("a contact's data", () => {
  it("are exported from every place, opened, by number and by LID, and from groups", async () => {
    await everybody();
    const rows = await exportOf(ANA);
    expect(tally(rows)).toEqual(OF_ANA);
    const sealed = SEALED_COLUMNS.flatMap(({ table, column }) =>
      rows.filter((row) => row.table === table && row[column] !== null).map((row) => row[column]),
    );
    expect(sealed.length).toBeGreaterThan(20);
    expect(new Set(sealed.map((value) => JSON.stringify(value)))).toEqual(new Set(['{"text":"of Ana"}']));
  });

  it("are erased from every place with what hangs on them; all others stay", async () => {
    await everybody();
    const before = await counts();
    const removed: [number, number][] = [];
    const files = { removeReceived: async (...which: [number, number]) => void removed.push(which) };
    const inbox = (await exportOf(ANA)).filter(({ table }) => table === "inbox").map(({ id }) => id);

    expect(await eraseContact(store, files, ANA)).toEqual({ erased: OF_ANA, waiting: 0 });

    expect(await exportOf(ANA)).toEqual([]);
    // Files of the messages that came, of no others.
    expect(removed).toEqual(inbox.map((id) => [SHOP, id]));
    const after = await counts();
    const gone = Object.entries(before)
      .map(([table, n]) => [table, n - after[table]!] as const)
      .filter(([, n]) => n !== 0);
    expect(Object.fromEntries(gone)).toEqual({ ...OF_ANA, delivery_attempts: 2, outbox_history: 2 });
    expect(tally(await exportOf({ deviceId: SHOP, addresses: BEN }))).toEqual(OF_ANA);
    expect(await exportOf({ ...ANA, deviceId: OTHER_SHOP })).not.toEqual([]);
  });

  it("are not those of somebody whose number contains the contact's", async () => {
    const own = { device_id: SHOP, bot_id: "b" };
    const keys = ["4915100000001", "points:4915100000001:may", "points:49151000000012", "74915100000001"];
    for (const key of keys) await insert("bot_store", { ...own, key });
    const kept = async () => (await exportOf(ANA)).map(({ key }) => key);
    expect(await kept()).toEqual(keys.slice(0, 2));
  });

  it("stay as long as something waits to be answered, sent or delivered, and go afterwards", async () => {
    const chat = ANA.addresses[0]!;
    const own = { device_id: SHOP, chat };
    await insert("inbox", { ...own, sender: chat, state: "pending" });
    for (const state of ["queued", "scheduled"]) await insert("outbox", { ...own, state });
    for (const state of ["pending", "retrying"]) await insert("deliveries", { ...own, state });
    const files = { removeReceived: () => Promise.reject(new Error("still needed")) };

    expect(await eraseContact(store, files, ANA)).toEqual({
      erased: {},
      waiting: 5,
    });
    expect(await exportOf(ANA)).toHaveLength(5);

    const over = { inbox: "done", outbox: "sent", deliveries: "delivered" };
    for (const [table, state] of Object.entries(over))
      await store.writer.commit([{ sql: `UPDATE ${table} SET state = ?`, args: [state] }], { owning: null });
    const again = await eraseContact(store, { removeReceived: async () => undefined }, ANA);
    expect(again).toEqual({ erased: { deliveries: 2, outbox: 2, inbox: 1 }, waiting: 0 });
  });

  it("are looked for in every table there is, or it is said here what the table holds instead", async () => {
    await everybody();
    const exported = new Set(Object.keys(tally(await exportOf(ANA))));
    const names: string[] = TABLES.map(({ name }) => name);
    expect(
      names.filter((name) => !exported.has(name) && WITHOUT[name] === undefined),
      "A table that may hold a person's data joins PLACES in src/retention/contact.ts; another one joins WITHOUT here, with the reason.",
    ).toEqual([]);
    expect(Object.keys(WITHOUT).filter((name) => exported.has(name) || !names.includes(name))).toEqual([]);
  });
});
