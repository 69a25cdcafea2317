import { describe, expect, it } from "vitest";
import type { Simulator } from "../../src/simulator/index.ts";
import { BatchFailed } from "../../src/store/engine.ts";
import { StorageUnavailable } from "../../src/store/errors.ts";
import { createReading } from "../../src/store/reading.ts";
import type { Store } from "../../src/store/store.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn, type TestNumber } from "./_setup.ts";
import { rawRows } from "../unit/store/rows.ts";

type Statements = Parameters<Store["writer"]["commit"]>[0];

interface Breakable extends Store {
  away: "writes" | "reads" | null;
  /** Commits with such a statement are refused for their own sake, as a value is that is too large. */
  refuses: (statement: Statements[number]) => boolean;
}

/** The commits, or the reads, of a store that fail while `away`. */
function breakable(store: Store): Breakable {
  const broken: Breakable = {
    ...store,
    away: null,
    refuses: () => false,
    ...createReading(
      {
        async read(statement) {
          if (broken.away === "reads")
            throw new BatchFailed("unavailable", null, new Error("disk I/O error"));
          const rows = await rawRows(store, statement.sql, statement.args);
          const columns = Object.keys(rows[0] ?? {});
          return { columns, values: rows.map((row) => columns.map((name) => row[name] ?? null)) };
        },
        reconnect: () => undefined,
      },
      store.time,
    ),
    writer: {
      ...store.writer,
      commit: async (statements: Statements) => {
        if (broken.away === "writes") throw new StorageUnavailable("the disk is full");
        if (statements.some((statement) => broken.refuses(statement)))
          throw new Error("string or blob too big");
        return store.writer.commit(statements);
      },
    },
  };
  return broken;
}

async function setup() {
  const simulator = await simulate();
  const owner = await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana" });
  const group = await simulator.addGroup({ subject: "Team", members: [GUEST, OWN] });
  const channel = await simulator.addChannel({ name: "News", followers: [OWN] });
  const store = breakable(await testStore(simulator));
  const gateway = await whatsappOn(simulator, store);
  const number = gateway.number(1);
  await link(simulator, number);
  // Sessions and sender keys are there: what comes below needs no question to the server.
  await guest.sendText(OWN, "hello");
  await guest.sendText(group.id, "hello all");
  await until("the first texts", () => number.received.length === 2);
  await until("their receipts", async () => (await simulator.pending(OWN)) === 0);
  return { simulator, owner, guest, group, channel, store, gateway, number };
}

type World = Awaited<ReturnType<typeof setup>>;

/** Everything by which a companion tells the service that it has a message, or wants it anew. */
async function saidOf(simulator: Simulator, id: string): Promise<string[]> {
  const stanzas = await simulator.stanzas({ number: OWN, device: 1, direction: "in", id });
  return stanzas.map(({ tag, attrs }) => `${tag} ${attrs.type ?? attrs.class ?? ""}`);
}

const KINDS: Record<string, (world: World) => Promise<{ id: string }>> = {
  "a direct message": ({ guest }) => guest.sendText(OWN, "keep me"),
  "a group's message": ({ guest, group }) => guest.sendText(group.id, "keep me"),
  "a channel's post": ({ simulator, channel }) => simulator.postInChannel(channel.id, "keep me"),
  "what the owner typed": ({ owner }) => owner.typeAsOwner(GUEST, "keep me"),
  async "a message without content"({ simulator, guest }) {
    await simulator.faults.placeholders({ number: OWN, n: 1 });
    return guest.sendText(OWN, "keep me");
  },
};

async function comesAfterwards({ store, number }: World): Promise<void> {
  store.away = null;
  await number.connect();
  await until("what was kept", () => number.received.some(({ text }) => text === "keep me"), 30_000);
  expect(number.received.filter(({ text }) => text === "keep me")).toHaveLength(1);
}

const closedByStorage = (number: TestNumber): boolean => number.closes.at(-1)?.code === 503;

describe("while the database cannot be written", () => {
  it.each(Object.keys(KINDS))(
    "%s is answered by nothing but the end of the connection, and comes later",
    async (kind) => {
      const world = await setup();
      const { simulator, store, number } = world;

      store.away = "writes";
      const { id } = await KINDS[kind]!(world);
      await until("the end of the connection", () => closedByStorage(number));

      expect(await saidOf(simulator, id)).toEqual([]);
      await comesAfterwards(world);
    },
  );

  it("what the phone sends instead of a message without content is not acknowledged either", async () => {
    const world = await setup();
    const { simulator, guest, store, number } = world;
    const peer = { number: OWN, device: 1, direction: "in", tag: "receipt", type: "peer_msg" } as const;
    const asked = async (): Promise<number> =>
      (await simulator.stanzas({ number: OWN, device: 1, direction: "in", tag: "message" })).filter(
        ({ attrs }) => attrs.category === "peer",
      ).length;
    const askedBefore = await asked();
    await simulator.faults.holdDeliveries({ number: OWN, device: 0 });
    await simulator.faults.placeholders({ number: OWN, n: 1 });
    const { id } = await guest.sendText(OWN, "keep me");
    await until("the question to the phone", async () => (await asked()) > askedBefore);
    const before = await simulator.countStanzas(peer);

    store.away = "writes";
    await simulator.faults.releaseDeliveries({ number: OWN, device: 0 });
    await until("the end of the connection", () => closedByStorage(number));

    expect(await simulator.countStanzas(peer)).toBe(before);
    expect((await saidOf(simulator, id)).filter((said) => said.startsWith("receipt"))).toEqual([]);
    await comesAfterwards(world);
  });
});

describe("what the database refuses for its own sake", () => {
  const isOf = (statement: Statements[number], table: string, type: string): boolean =>
    statement.sql.includes(`insert into ${table}`) && statement.args.includes(type);
  const sentTo = (received: TestNumber["received"], text: string): number =>
    received.filter((message) => message.text === text).length;

  it.each(["a direct message", "a group's message"])(
    "is a session or sender key: %s arrives all the same, the connection stays, and the next one opens a new session",
    async (kind) => {
      const world = await setup();
      const { guest, group, store, number } = world;
      const closes = number.closes.length;
      store.refuses = (statement) =>
        isOf(statement, "wa_keys", "session") || isOf(statement, "wa_keys", "sender-key");

      await KINDS[kind]!(world);
      await until("the message", () => sentTo(number.received, "keep me") === 1);
      store.refuses = () => false;
      await (kind === "a direct message" ? guest.sendText(OWN, "again") : guest.sendText(group.id, "again"));
      await until("the next one", () => sentTo(number.received, "again") === 1);

      expect(number.closes).toHaveLength(closes);
      expect(sentTo(number.received, "keep me")).toBe(1);
    },
  );
});

describe("while the database cannot be read", () => {
  it("a message is not taken for one that cannot be decrypted", async () => {
    const world = await setup();
    const { simulator, guest, store, number, gateway } = world;
    await number.close();
    // Nothing is held in memory after a restart: the session has to be read.
    const restarted = (await whatsappOn(simulator, store, gateway.sent)).number(1);
    await restarted.connect();
    await until("the connection to open", () => restarted.opens === 1);

    store.away = "reads";
    const { id } = await guest.sendText(OWN, "keep me");
    await until("the end of the connection", () => closedByStorage(restarted));

    expect(await saidOf(simulator, id)).toEqual([]);
    await comesAfterwards({ ...world, number: restarted });
    expect(await rawRows(store, "select wa_id from missing_messages", [])).toEqual([]);
  });
});
