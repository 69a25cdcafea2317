import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { beforeEach, describe, expect, it } from "vitest";
import * as schema from "../../../drizzle/schema.ts";
import { createTime, DAY_MS, HOUR_MS, MINUTE_MS, type Time } from "../../../src/model/time.ts";
import { createRetention } from "../../../src/retention/retention.ts";
import { DEADLINES, watchClock, type ClockWatch } from "../../../src/store/clock.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { createIdempotency } from "../../../src/outbox/submitting/idempotency.ts";
import { createReachout } from "../../../src/outbox/sending/holdups/reachout.ts";
import { createChats } from "../../../src/pipeline/chats.ts";
import { createHolds } from "../../../src/webhooks/holds.ts";
import { sweepJournal } from "../../../src/whatsapp/signal/journal-rows.ts";
import { configFor, silentLog, temporaryFolder } from "./temporary.ts";
import { rawRows } from "./rows.ts";

/** Times that nothing waits for, and a date that its owner has named. */
const NO_DEADLINES = [
  ...[
    "accounts",
    "api_keys",
    "devices",
    "journal",
    "outbox",
    "listeners",
    "deliveries",
    "media_files",
    "channels",
  ].map((table) => `${table}.created_at`),
  ...["wa_creds", "wa_keys", "webhooks", "listeners", "bot_sessions", "bot_dialogues"].map(
    (table) => `${table}.updated_at`,
  ),
  "api_keys.expires_at",
  ...["sessions", "links", "audit_log"].map((table) => `${table}.created_at`),
  ...["api_keys", "sessions", "links"].map((table) => `${table}.last_used_at`),
  "lid_map.seen_at",
  "number_checks.checked_at",
  "chat_settings.updated_at",
  // By the phone's clock.
  "chat_settings.muted_until",
  "contacts.asked_at",
  "contacts.created_at",
  "contacts.seen_at",
  "connections.opened_at",
  "connections.closed_at",
  "missing_messages.noticed_at",
  "missing_messages.resolved_at",
  "erased_devices.erased_at",
  "devices.linked_at",
  "commit_fences.at",
  // Of the database's own clock.
  "news.at",
  "leases.until",
  "idempotency_claims.until",
  "nodes.since",
  "nodes.until",
  "inbox.received_at",
  "decisions.at",
  "outbox_history.at",
  "outbox.sent_at",
  "outbox.delivered_at",
  "outbox.read_at",
  "outbox.played_at",
  "outbox.ended_at",
  "outbox.scheduled_at",
  // What somebody else has named.
  "outbox.send_at",
  "outbox.not_after",
  "outbox.failed_at",
  "outbox.expired_at",
  "chat_state.last_incoming_at",
  // Compared with the present in both directions.
  "chat_state.call_text_at",
  "chat_state.read_at",
  "delivery_attempts.at",
  "group_lists.fetched_at",
  "media_files.uploaded_at",
  "poll_votes.voted_at",
  "idempotency.created_at",
];

interface Host {
  time: Time;
  /** Sets the clock, in milliseconds from where it stands. */
  set(ms: number): void;
  /** Lets real time pass. */
  pass(ms: number): Promise<void>;
}

/** A clock that can be set, over a time that only grows. */
function host(): Host {
  let wall = Date.parse("2026-11-22T12:00:00Z");
  let steady = 1_000;
  const timers = new Set<{ at: number; run: () => void }>();
  const time = createTime({
    now: () => wall,
    monotonic: () => steady,
    after(ms, run) {
      const timer = { at: steady + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  });
  return {
    time,
    set: (ms) => void (wall += ms),
    async pass(ms) {
      wall += ms;
      steady += ms;
      for (const timer of timers)
        if (timer.at <= steady) {
          timers.delete(timer);
          timer.run();
        }
      for (let turn = 0; turn < 60; turn++) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const log = silentLog(configFor("/nowhere"));
let machine: Host;
let folder: string;
let store: Store;
let moved: number[];
/** Whether this process is the one that moves what is in the database. */
let leads: boolean;

async function start(): Promise<ClockWatch> {
  store = await openStore(configFor(folder), log, machine.time);
  const watch = watchClock(store, log, (ms) => moved.push(ms), { owns: () => leads });
  await watch.start();
  return watch;
}

async function restart(watch: ClockWatch, whileAway: () => void): Promise<ClockWatch> {
  await watch.stop();
  await store.close();
  whileAway();
  return start();
}

beforeEach(() => {
  machine = host();
  folder = temporaryFolder();
  moved = [];
  leads = true;
});

async function fill(): Promise<void> {
  const now = machine.time.now();
  await store.writer.commit([
    {
      sql: `INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, state, timestamp, received_at, body)
        VALUES (1, 'c', 's', 'w', 0, 'text', 'done', 0, ?, x'00')`,
      args: [now],
    },
    {
      sql: "INSERT INTO idempotency (key_id, route, idem_key, fingerprint, created_at) VALUES ('k', 'r', 'i', 'f', ?)",
      args: [now],
    },
    {
      sql: "INSERT INTO journal (device_id, hash, stanza_id, created_at) VALUES (1, 'h', 's', ?)",
      args: [now],
    },
  ]);
}

/** Deletes what is old, everywhere; says what is left. */
async function sweepAll(): Promise<string[]> {
  await createRetention({
    store,
    config: { retentionDays: 30, dataDir: folder },
    log,
    sentContent: async () => null,
  }).run();
  await sweepJournal(store);
  const left: string[] = [];
  for (const table of ["inbox", "idempotency", "journal"])
    if ((await rawRows(store, `SELECT 1 FROM ${table}`, [])).length > 0) left.push(table);
  return left;
}

const KEYED = { keyId: "k", route: "/send-message", key: "mine", body: { message: "hello" } };

async function answerUnderKey(message: string): Promise<void> {
  const begun = await createIdempotency({ store, log }).begin(KEYED);
  if (begun.kind !== "new") throw new Error(`It is ${begun.kind}.`);
  await store.writer.commit(begun.claim.statements([{ number: "1", id: "3EB0" }]));
  await begun.claim.end({ httpStatus: 200, body: { message }, headers: {} });
}

const ALL = ["inbox", "idempotency", "journal"];

describe("a clock that goes ahead", () => {
  it("by a month between two starts deletes nothing, until WhatsApp says that it is right", async () => {
    let watch = await start();
    await fill();
    watch = await restart(watch, () => machine.set(31 * DAY_MS));
    expect(await sweepAll()).toEqual(ALL);

    // Doubted still after another start, and while WhatsApp says otherwise.
    watch = await restart(watch, () => undefined);
    expect(await sweepAll()).toEqual(ALL);
    store.clock.heard(machine.time.now() - 31 * DAY_MS);
    expect(await sweepAll()).toEqual(ALL);

    store.clock.heard(machine.time.now() - MINUTE_MS);
    expect(await sweepAll()).toEqual([]);
    await watch.stop();
    await store.close();
  });

  it("by a month while it runs deletes nothing either", async () => {
    const watch = await start();
    await fill();
    machine.set(31 * DAY_MS);
    await machine.pass(1_000);
    expect(await sweepAll()).toEqual(ALL);
    await watch.stop();
    await store.close();
  });

  it("is believed after a week of running with nobody to ask, counted over restarts", async () => {
    let watch = await start();
    await fill();
    watch = await restart(watch, () => machine.set(31 * DAY_MS));
    for (let day = 0; day < 4; day++) for (let hour = 0; hour < 24; hour++) await machine.pass(HOUR_MS);
    expect(store.clock.isTrusted()).toBe(false);
    watch = await restart(watch, () => undefined);
    for (let day = 0; day < 4; day++) for (let hour = 0; hour < 24; hour++) await machine.pass(HOUR_MS);
    expect(await sweepAll()).toEqual([]);
    await watch.stop();
    await store.close();
  });

  it("by a month makes no new request of one that was answered under its key, at once and over restarts", async () => {
    let watch = await start();
    await answerUnderKey("sent");
    const again = async () => (await createIdempotency({ store, log }).begin(KEYED)).kind;

    machine.set(31 * DAY_MS);
    // Nobody has looked at the clock since.
    expect(await again()).toBe("answered");
    expect(await sweepAll()).toEqual(["idempotency"]);
    await machine.pass(1_000);
    expect(await again()).toBe("answered");
    watch = await restart(watch, () => undefined);
    expect(await again()).toBe("answered");

    machine.set(-31 * DAY_MS);
    await machine.pass(1_000);
    store.clock.heard(machine.time.now());
    expect(await again()).toBe("answered");
    await machine.pass(DAY_MS);
    expect(await again()).toBe("new");
    await answerUnderKey("sent again");
    expect(await again()).toBe("answered");
    await watch.stop();
    await store.close();
  });

  it("by a month in the last moment of a run is doubted by the next", async () => {
    let watch = await start();
    await fill();
    machine.set(31 * DAY_MS);
    watch = await restart(watch, () => undefined);
    expect(await sweepAll()).toEqual(ALL);
    await watch.stop();
    await store.close();
  });

  it("by a night of sleep is believed, and so is one that nobody has noted before", async () => {
    const watch = await start();
    expect(store.clock.isTrusted()).toBe(true);
    machine.set(10 * HOUR_MS);
    await machine.pass(1_000);
    expect(store.clock.isTrusted()).toBe(true);
    await watch.stop();
    await store.close();
  });
});

describe("a clock that is set back", () => {
  it("takes every deadline of the schema along, and tells who holds some in memory", async () => {
    const watch = await start();
    const now = machine.time.now();
    const soon = now + 5_000;
    for (const { table, column } of DEADLINES) await insertDeadline(table, column, soon);
    machine.set(-DAY_MS);
    await machine.pass(1_000);
    await store.writer.drain();

    for (const { table, column } of DEADLINES) {
      const rows = await rawRows(
        store,
        `SELECT ${column} AS at FROM ${table} WHERE ${column} IS NOT NULL`,
        [],
      );
      expect({ table, column, at: rows.map(({ at }) => at) }).toEqual({ table, column, at: [soon - DAY_MS] });
    }
    expect(moved).toEqual([DAY_MS]);
    await watch.stop();
    await store.close();
  });

  it("moves the database by one node alone: the others move what they remember, and whoever leads next does what was left", async () => {
    const deadline = async () =>
      (await rawRows(store, "SELECT next_at AS at FROM deliveries", [])).map(({ at }) => at);
    const noted = async () =>
      (await rawRows(store, "SELECT value FROM meta WHERE key = 'clock'", []))[0]?.["value"];
    const watch = await start();
    const soon = machine.time.now() + 5_000;
    await insertDeadline("deliveries", "next_at", soon);
    const before = await noted();

    leads = false;
    machine.set(-DAY_MS);
    await machine.pass(1_000);
    await machine.pass(MINUTE_MS);
    await store.writer.drain();
    expect(moved).toEqual([DAY_MS]);
    expect([await deadline(), await noted()]).toEqual([[soon], before]);

    leads = true;
    await machine.pass(1_000);
    await store.writer.drain();
    const [at] = await deadline();
    expect(Number(at)).toBeLessThan(soon - DAY_MS + 2 * MINUTE_MS);
    await watch.stop();
    await store.close();
  });

  it("knows of every time in the schema whether something waits for it", () => {
    const times = Object.values(schema)
      .filter((table) => is(table, SQLiteTable))
      .map((table) => getTableConfig(table))
      .flatMap(({ name, columns }) => columns.map((column) => ({ table: name, column: column.name })))
      .filter(({ column }) => /(^|_)(at|until)$/.test(column));
    const known = new Set([...NO_DEADLINES, ...DEADLINES.map(({ table, column }) => `${table}.${column}`)]);

    expect(
      times.map(({ table, column }) => `${table}.${column}`).filter((name) => !known.has(name)),
      "Add the column to DEADLINES of src/store/clock.ts, or to NO_DEADLINES of this file when nothing waits for it.",
    ).toEqual([]);
  });
});

describe("what is held in memory", () => {
  it("follows a clock that is set back: a hold, a mute, a takeover and a lock of seconds end in seconds", async () => {
    const watch = await start();
    const [holds, reachout, chats] = [
      createHolds(store, 1),
      createReachout({ deviceId: 1, store }),
      createChats(store),
    ];
    const until = machine.time.now() + 5_000;
    holds.keep("c", 5);
    await reachout.lock(until);
    const facts = await chats.load(1, "c");
    chats.saved(1, "c", { mutedUntil: until, takeoverUntil: until }, facts);
    machine.set(-DAY_MS);
    for (const part of [holds, reachout, chats]) part.onClockMoved(DAY_MS);

    expect([holds.holds("c"), reachout.isLocked()]).toEqual([true, true]);
    await machine.pass(6_000);
    expect([holds.holds("c"), reachout.isLocked()]).toEqual([false, false]);
    expect(Math.max(facts.mutedUntil, facts.takeoverUntil)).toBeLessThan(machine.time.now());
    await watch.stop();
    await store.close();
  });
});

/** A row with one deadline; all else is as little as the schema allows. */
async function insertDeadline(table: string, column: string, at: number): Promise<void> {
  const config = Object.values(schema)
    .filter((one) => is(one, SQLiteTable))
    .map((one) => getTableConfig(one))
    .find(({ name }) => name === table)!;
  const id = DEADLINES.findIndex((deadline) => deadline.table === table && deadline.column === column) + 1;
  const needed = config.columns.filter(
    (one) => one.name === column || one.notNull || one.primary || one.name === "id",
  );
  const value = (name: string, type: string): string | number | Buffer => {
    if (name === column) return at;
    if (type === "SQLiteInteger" || type === "SQLiteBoolean") return id;
    return type.startsWith("SQLiteBlob") || type === "SQLiteBuffer" ? Buffer.from([0]) : `t${id}`;
  };
  await store.writer.commit([
    {
      sql: `INSERT INTO ${table} (${needed.map(({ name }) => name).join(", ")}) VALUES (${needed.map(() => "?").join(", ")})`,
      args: needed.map((one) => value(one.name, one.columnType)),
    },
  ]);
}
