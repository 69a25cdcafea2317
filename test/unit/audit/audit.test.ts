import { beforeEach, describe, expect, it } from "vitest";
import { createAudit, type Audit } from "../../../src/audit/audit.ts";
import { createInbox, type Inbox } from "../../../src/inbox/inbox.ts";
import { createRetention } from "../../../src/retention/retention.ts";
import { createErasure } from "../../../src/retention/erasure.ts";
import type { Store } from "../../../src/store/store.ts";
import type { ConnectionFacts, MissingMessage } from "../../../src/whatsapp/port.ts";
import { NOTED_PER_HOUR } from "../../../src/audit/sent-elsewhere.ts";
import { planOf, scansOf, watchStatements } from "../store/query-plan.ts";
import { jid, OWN_NUMBER, DEVICE } from "../outbox/harness.ts";
import { text } from "../pipeline/harness.ts";
import { configFor, silentLog, temporaryFolder, temporaryStore } from "../store/temporary.ts";
import { record } from "../../_setup/record.ts";
import { rawRows } from "../store/rows.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const CHAT = jid(4915001);

let now: number;
let store: Store;
let inbox: Inbox;
let audit: Audit;

async function startAudit(): Promise<Audit> {
  const started = createAudit({
    store,
    config: { retentionDays: 30 },
    log: silentLog(configFor("/nowhere")),
  });
  await started.load();
  return started;
}

beforeEach(async () => {
  now = Date.parse("2026-11-20T12:00:00Z");
  store = await temporaryStore({}, () => now);
  await store.writer.commit([
    {
      sql: `INSERT INTO devices (id, account_id, number, state, since, created_at) VALUES (?, 'a', ?, 'connected', 0, 0)`,
      args: [DEVICE, OWN_NUMBER],
    },
  ]);
  inbox = createInbox(store);
  audit = await startAudit();
});

const unread = (id: string, more: Partial<MissingMessage> = {}): MissingMessage => ({
  id,
  chat: CHAT,
  sender: CHAT,
  fromMe: false,
  jid: CHAT,
  participant: null,
  timestamp: Math.floor(now / 1000),
  reason: "undecryptable",
  ...more,
});

async function receive(...messages: ReturnType<typeof text>[]): Promise<void> {
  const found = audit.found(DEVICE, messages);
  await record(store, inbox, DEVICE, messages, found.statements);
  found.stored();
}

const connection = (more: Partial<ConnectionFacts> = {}): ConnectionFacts => ({
  openedAt: now,
  closedAt: null,
  code: null,
  announced: null,
  arrived: 0,
  ...more,
});

it("reports although what came before is still being counted, as in a folder of long ago", async () => {
  await receive(text(4915001, "hello", { timestamp: Math.floor(now / 1000) }));
  const commit: Store["writer"]["commit"] = (work) =>
    JSON.stringify(work).includes("audit_hours") ? new Promise(() => undefined) : store.writer.commit(work);
  store = { ...store, writer: { ...store.writer, commit } };
  audit = await startAudit();
  expect(await audit.report(DEVICE)).toMatchObject({ received: 1, pending: 1 });
});

describe("a message that could not be read", () => {
  it("is asked for at first, then lost, and neither once it came", async () => {
    await audit.witness.missing(DEVICE, unread("A"));
    await audit.witness.missing(DEVICE, unread("B"));
    expect(await audit.report(DEVICE)).toMatchObject({ lost: 0, awaited: 2, recovered: 0 });

    now += 11 * MINUTE;
    const later = await audit.report(DEVICE);
    expect(later).toMatchObject({ lost: 2, awaited: 0, recovered: 0 });
    expect(later.missing.map(({ id, state }) => [id, state]).toSorted()).toEqual([
      ["A", "lost"],
      ["B", "lost"],
    ]);

    // After a restart it is known as well.
    audit = await startAudit();
    await receive(text(4915001, "here", { id: "A" }));
    const report = await audit.report(DEVICE);
    expect(report).toMatchObject({ lost: 1, recovered: 1, received: 1, pending: 1 });
    expect(report.missing.find(({ id }) => id === "A")).toMatchObject({ state: "arrived", resolvedAt: now });
  });

  it("is not noted when the inbox has it, under either id of its writer, or the journal", async () => {
    const lid = "70000000000001@lid";
    await receive(text(4915001, "one", { id: "A" }));
    await receive(text(4915001, "two", { id: "B", chat: lid, chatKey: lid, sender: lid, number: null, lid }));
    await store.writer.commit([
      {
        sql: "INSERT INTO lid_map (device_id, lid_user, pn_user, seen_at) VALUES (?, '70000000000001', '4915001', 0)",
        args: [DEVICE],
      },
      {
        sql: "INSERT INTO journal (device_id, hash, stanza_id, content, created_at) VALUES (?, 'h', 'C', x'00', 0)",
        args: [DEVICE],
      },
    ]);

    for (const id of ["A", "B", "C"]) await audit.witness.missing(DEVICE, unread(id));
    await audit.witness.missing(DEVICE, unread("A", { jid: lid }));

    expect((await audit.report(DEVICE)).missing).toEqual([]);
  });

  it("is not noted when the inbox has it, under whichever of its writer's LIDs", async () => {
    const lids = ["70000000000001", "70000000000002"];
    for (const user of lids) {
      const [id, lid] = [`OF-${user}`, `${user}@lid`];
      await receive(text(4915001, "hello", { id, chat: lid, chatKey: lid, sender: lid, number: null, lid }));
      const typed = { id: `TYPED-${user}`, fromMe: true, sender: jid(OWN_NUMBER), number: OWN_NUMBER };
      await receive(text(4915001, "by hand", { ...typed, chat: lid, chatKey: lid, lid: null }));
    }
    await store.writer.commit(
      lids.map((user) => ({
        sql: "INSERT INTO lid_map (device_id, lid_user, pn_user, seen_at) VALUES (?, ?, '4915001', 0)",
        args: [DEVICE, user],
      })),
    );

    for (const user of lids) {
      await audit.witness.missing(DEVICE, unread(`OF-${user}`));
      audit.receipts(DEVICE, [{ waId: `TYPED-${user}`, jid: CHAT, state: "delivered", at: now }]);
    }

    expect((await audit.report(DEVICE)).missing).toEqual([]);
  });

  it("that holds nothing for people is not missing once it was read", async () => {
    await audit.witness.missing(DEVICE, unread("A"));
    audit.witness.read(DEVICE, "A");
    audit.witness.read(DEVICE, "B");
    await store.writer.drain();
    expect(await audit.report(DEVICE)).toMatchObject({ lost: 0, awaited: 0, recovered: 1 });
  });

  it("is never counted as lost when WhatsApp shows it on the phone alone", async () => {
    await audit.witness.missing(DEVICE, unread("A", { reason: "phone_only" }));
    now += DAY;
    const report = await audit.report(DEVICE);
    expect(report).toMatchObject({ lost: 0, awaited: 0 });
    expect(report.missing).toMatchObject([{ id: "A", state: "phone_only" }]);
  });

  it("can be asked of the phone for two weeks, but not while somebody else is being asked", async () => {
    await audit.witness.missing(DEVICE, unread("A"));
    await audit.witness.missing(DEVICE, unread("B", { reason: "phone_only" }));
    await audit.witness.missing(DEVICE, unread("C", { timestamp: Math.floor((now - 15 * DAY) / 1000) }));
    expect(await audit.witness.askable(DEVICE, now)).toEqual([]);
    expect((await audit.witness.askable(DEVICE, now + 1)).map(({ id }) => id)).toEqual(["A"]);
  });
});

describe("what others know", () => {
  it("of the phone's history only what neither inbox nor outbox has is missing", async () => {
    await receive(text(4915001, "known", { id: "A" }));
    await store.writer.commit([
      {
        sql: `INSERT INTO outbox (device_id, wa_id, chat, jid, number, kind, origin, is_reply, body, created_at)
          VALUES (?, 'B', ?, ?, '4915001', 'text', 'api', 0, x'00', 0)`,
        args: [DEVICE, CHAT, CHAT],
      },
    ]);
    const named = ["A", "B", "C"].map((id) => text(4915001, id, { id, fromMe: id === "B" }));

    const unknown = await audit.witness.unknownOf(DEVICE, named);

    expect(unknown.map(({ id }) => id)).toEqual(["C"]);
    await receive(...unknown);
    expect((await audit.report(DEVICE)).missing).toMatchObject([
      { id: "C", reason: "history", state: "arrived" },
    ]);
  });

  it("a receipt of what nobody here has sent is told; of the outbox's and the phone's own it is not", async () => {
    await store.writer.commit([
      {
        sql: `INSERT INTO outbox (device_id, wa_id, chat, jid, number, kind, origin, is_reply, body, created_at)
          VALUES (?, 'SENT', ?, ?, '4915001', 'text', 'api', 0, x'00', 0)`,
        args: [DEVICE, CHAT, CHAT],
      },
    ]);
    await receive(text(4915001, "by hand", { id: "TYPED", fromMe: true, sender: jid(OWN_NUMBER) }));
    const delivered = ["SENT", "TYPED", "FOREIGN"].map((waId) => ({
      waId,
      jid: CHAT,
      state: "delivered" as const,
      at: now,
    }));

    audit.receipts(DEVICE, [...delivered, { waId: "READ", jid: CHAT, state: "read", at: now }]);
    audit.witness.sentElsewhere(DEVICE, { waId: "ASKED", jid: CHAT });

    const report = await audit.report(DEVICE);
    expect(report.missing.map(({ id, state }) => [id, state]).toSorted()).toEqual([
      ["ASKED", "unknown_send"],
      ["FOREIGN", "unknown_send"],
    ]);
    expect(report.lost).toBe(0);
  });
});

describe("receipts", () => {
  const delivered = (waId: string) => ({ waId, jid: CHAT, state: "delivered" as const, at: now });

  it("cost a look into an index each, however much was sent", async () => {
    const watched = watchStatements(store);
    store = watched.store;
    audit = await startAudit();

    audit.receipts(
      DEVICE,
      Array.from({ length: 200 }, (_, n) => delivered(`A${n}`)),
    );
    await audit.stop();

    const looked = watched.seen.filter(({ sql }) => sql.includes("outbox"));
    expect(looked.length).toBeGreaterThan(0);
    for (const statement of looked) {
      const steps = await planOf(store, statement);
      expect(steps.filter((step) => /outbox_wa_id/.test(step))).toEqual([
        expect.stringMatching(/device_id=\? AND wa_id=\?/),
      ]);
      expect(await scansOf(store, statement)).toEqual([]);
    }
  });

  it("of made-up messages fill no database: a number notes so many in an hour, and none in another's place", async () => {
    const forged = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => delivered(`FORGED${from + n}`));
    const noted = async (deviceId: number): Promise<number> =>
      Number(
        (
          await rawRows(store, "SELECT count(*) AS n FROM missing_messages WHERE device_id = ?", [deviceId])
        )[0]!.n,
      );
    await store.writer.commit([
      {
        sql: `INSERT INTO devices (id, account_id, number, state, since, created_at) VALUES (?, 'b', '4917', 'connected', 0, 0)`,
        args: [DEVICE + 1],
      },
    ]);

    for (let round = 0; round < 8; round++) {
      audit.receipts(DEVICE, forged(round * 5_000, 5_000));
      await audit.report(DEVICE);
    }
    audit.receipts(DEVICE + 1, [delivered("ELSEWHERE")]);
    await audit.report(DEVICE);
    expect(await noted(DEVICE)).toBe(NOTED_PER_HOUR);
    expect(await noted(DEVICE + 1)).toBe(1);

    now += 61 * MINUTE;
    audit.receipts(DEVICE, forged(90_000, 5));
    await audit.report(DEVICE);
    expect(await noted(DEVICE)).toBe(NOTED_PER_HOUR + 5);
  });
});

describe("what is missing", () => {
  it("is found by an index when it is read, asked for and resolved", async () => {
    const watched = watchStatements(store);
    store = watched.store;
    inbox = createInbox(store);
    audit = await startAudit();
    await audit.witness.missing(DEVICE, unread("A"));
    await receive(text(4915001, "here", { id: "A" }));
    await audit.witness.askable(DEVICE, now + 1);
    await audit.report(DEVICE);

    const statements = watched.seen.filter(({ sql }) => sql.includes("missing_messages"));
    expect(statements.length).toBeGreaterThan(4);
    for (const statement of statements) expect(await scansOf(store, statement)).toEqual([]);
  });

  it("is not kept in memory once it was deleted", async () => {
    await audit.witness.missing(DEVICE, unread("A"));
    await store.writer.commit([{ sql: "DELETE FROM missing_messages", args: [] }]);
    expect(audit.found(DEVICE, [{ ...text(4915001, ""), id: "A" }]).statements).toHaveLength(1);
    await audit.load();
    expect(audit.found(DEVICE, [{ ...text(4915001, ""), id: "A" }]).statements).toEqual([]);
  });
});

describe("the counts of connections", () => {
  it("are lost messages once the next connection is not told of them", async () => {
    audit.witness.connection(DEVICE, connection());
    audit.witness.connection(DEVICE, connection({ announced: 3, arrived: 1 }));
    expect(await audit.report(DEVICE)).toMatchObject({ lost: 0, awaited: 2 });
    audit.witness.connection(DEVICE, connection({ announced: 3, arrived: 1, closedAt: now + 1, code: 428 }));
    now += MINUTE;
    audit.witness.connection(DEVICE, connection());

    const report = await audit.report(DEVICE);

    expect(report).toMatchObject({ lost: 2, awaited: 0 });
    expect(report.connections).toEqual([
      connection(),
      connection({ openedAt: now - MINUTE, closedAt: now - MINUTE + 1, code: 428, announced: 3, arrived: 1 }),
    ]);
  });

  it("are lost messages on a connection that is open for a while and never brought them", async () => {
    audit.witness.connection(DEVICE, connection({ announced: 3, arrived: 1 }));
    now += 11 * MINUTE;
    expect(await audit.report(DEVICE)).toMatchObject({ lost: 2, awaited: 0 });
  });
});

describe("the report", () => {
  it("counts the messages of the time that was asked for, over many pages", async () => {
    const old = Array.from({ length: 30 }, (_, n) => text(4915001, `old ${n}`));
    await record(store, inbox, DEVICE, old);
    now += 8 * DAY;
    const many = Array.from({ length: 5_200 }, (_, n) => text(4915001, `new ${n}`));
    const recorded = await record(store, inbox, DEVICE, many);
    await record(store, inbox, DEVICE + 1, [text(4915001, "another number's")]);
    await record(store, inbox, DEVICE, [text(4915001, "by hand", { fromMe: true, sender: jid(OWN_NUMBER) })]);
    const decide = (index: number, by: string | null, trail: object[]) => [
      {
        sql: `INSERT INTO decisions (inbox_id, device_id, chat, wa_id, "by", trail, at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        args: [recorded[index]!.inboxId, DEVICE, CHAT, String(index), by, JSON.stringify(trail), now],
      },
      inbox.done(recorded[index]!.inboxId),
    ];
    await store.writer.commit([
      ...decide(0, "bot:ping", []),
      ...decide(1, null, [{ by: "webhook", outcome: "passed" }]),
      ...decide(2, null, [{ by: "guard:too_old", outcome: "held" }]),
    ]);

    expect(await audit.report(DEVICE)).toMatchObject({
      since: now - 7 * DAY,
      received: 5_200,
      answeredOrForwarded: 2,
      pending: 5_197,
    });
    expect(await audit.report(DEVICE, now - 9 * DAY)).toMatchObject({ received: 5_230 });
  });

  it("refuses times of which nothing is kept, and the future", async () => {
    const refused = { code: "INVALID_PARAMETERS" };
    await expect(audit.report(DEVICE, now - 31 * DAY)).rejects.toMatchObject(refused);
    await expect(audit.report(DEVICE, now + 1)).rejects.toMatchObject(refused);
    await expect(audit.report(DEVICE, now - 30 * DAY)).resolves.toMatchObject({ lost: 0 });
  });

  it("forgets with retention, but not the connection that is open, and with the number", async () => {
    audit.witness.connection(DEVICE, connection({ closedAt: now, code: 428 }));
    await audit.witness.missing(DEVICE, unread("A"));
    now += 1;
    audit.witness.connection(DEVICE, connection());
    now += 40 * DAY;
    const counts = async (): Promise<number[]> =>
      (
        await rawRows(
          store,
          "SELECT (SELECT count(*) FROM connections) AS c, (SELECT count(*) FROM missing_messages) AS m",
          [],
        )
      ).flatMap((row) => [Number(row.c), Number(row.m)]);
    await store.writer.drain();
    expect(await counts()).toEqual([2, 1]);

    const dataDir = temporaryFolder();
    await createRetention({
      store,
      config: { retentionDays: 30, dataDir },
      log: silentLog(configFor(dataDir)),
      sentContent: async () => null,
    }).run();
    expect(await counts()).toEqual([1, 0]);

    const erasure = createErasure({ store, config: { dataDir }, log: silentLog(configFor(dataDir)) });
    await erasure.erase(DEVICE);
    await erasure.finished();
    await erasure.stop();
    expect(await counts()).toEqual([0, 0]);
  });
});
