import { describe, expect, it } from "vitest";
import type { Simulator, ServiceBehaviour } from "../../src/simulator/index.ts";
import type { Store } from "../../src/store/store.ts";
import {
  GUEST,
  link,
  OWN,
  simulate,
  testStore,
  until,
  whatsappOn,
  withoutInbox,
  type TestNumber,
  type TestWhatsApp,
} from "./_setup.ts";
import { rawRows } from "../unit/store/rows.ts";

const ID = "3EB0AAAAAAAAAAAAAAAAAA";
const PHONE = { number: OWN, device: 0 };

async function setup(behaviour: Partial<ServiceBehaviour> = {}) {
  const simulator = await simulate({ behaviour });
  const owner = await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana" });
  const store = withoutInbox(await testStore(simulator));
  const gateway = await whatsappOn(simulator, store);
  const number = gateway.number(1);
  await link(simulator, number);
  return { simulator, owner, guest, store, gateway, number };
}

const receivedText = (number: TestNumber, text: string) =>
  until(`the text ${text}`, () => number.received.find((message) => message.text === text), 30_000);
const texts = (number: TestNumber): string[] => number.received.map(({ text }) => text);
const acknowledged = (simulator: Simulator) =>
  until("everything acknowledged", async () => (await simulator.pending(OWN, 1)) === 0, 30_000);

/** Both sides have answered: the contact's messages do not carry the key exchange any more. */
async function answered({ guest, number }: Pick<Awaited<ReturnType<typeof setup>>, "guest" | "number">) {
  await guest.sendText(OWN, "hello");
  await receivedText(number, "hello");
  expect(await number.send(GUEST, "good day", ID)).toEqual({ kind: "sent" });
  await guest.waitForMessage({ text: "good day" });
}

/** As after a restart on a database that has lost its sessions. */
async function withoutSessions({
  simulator,
  store,
  gateway,
  number,
}: {
  simulator: Simulator;
  store: Store;
  gateway: TestWhatsApp;
  number: TestNumber;
}): Promise<TestNumber> {
  await number.close();
  await store.writer.commit([{ sql: "delete from wa_keys where type = 'session'", args: [] }]);
  return restarted({ simulator, store, gateway, number });
}

async function restarted({
  simulator,
  store,
  gateway,
  number,
}: {
  simulator: Simulator;
  store: Store;
  gateway: TestWhatsApp;
  number: TestNumber;
}): Promise<TestNumber> {
  await number.close();
  const again = (await whatsappOn(simulator, store, gateway.sent)).number(1);
  await again.connect();
  await until("the connection to open", () => again.opens === 1);
  return again;
}

const missing = async (store: Store) =>
  (await rawRows(store, "select wa_id, reason, resolved_at from missing_messages order by rowid", [])).map(
    (row) => ({
      id: row.wa_id,
      reason: row.reason,
      resolved: row.resolved_at !== null,
    }),
  );

describe("a message that comes more than once", () => {
  it.each(["same", "retry", "send"] as const)(
    "is one after its receipt when it is repeated (%s)",
    async (as) => {
      const { simulator, guest, number, store } = await setup();
      const { id } = await guest.sendText(OWN, "once");
      await receivedText(number, "once");
      await acknowledged(simulator);

      await simulator.faults.redeliver({ number: OWN, id, as });
      await simulator.faults.redeliver({ number: OWN, id, as, offline: true });
      await guest.sendText(OWN, "after it");
      await receivedText(number, "after it");

      await acknowledged(simulator);
      expect(texts(number)).toEqual(["once", "after it"]);
      expect(await missing(store)).toEqual([]);
    },
  );

  it("is one when its sender encrypts it anew each time, in a group as well", async () => {
    const { simulator, guest, number } = await setup();
    const group = await simulator.addGroup({ subject: "Team", members: [GUEST, OWN] });
    await simulator.faults.reencryptStanzas({ number: OWN, n: 3 });
    for (const text of ["one", "two", "three"]) await guest.sendText(OWN, text);
    await receivedText(number, "three");
    await simulator.faults.reencryptStanzas({ number: OWN, n: 2, as: "send" });
    for (const text of ["four", "five"]) await guest.sendText(group.id, text);
    await receivedText(number, "five");
    await guest.sendText(OWN, "last");
    await receivedText(number, "last");

    await acknowledged(simulator);
    expect(texts(number)).toEqual(["one", "two", "three", "four", "five", "last"]);
  });

  it("is one when its writer's number became known in between", async () => {
    const world = await setup();
    const { simulator, store, number } = world;
    const hidden = await simulator.addContact("31600000102", { hidesNumber: true });
    const { id } = await hidden.sendText(OWN, "who am I");
    expect((await receivedText(number, "who am I")).chatKey).toBe(hidden.lid);
    await acknowledged(simulator);
    await number.close();
    await store.writer.commit([
      {
        sql: "insert into lid_map (device_id, lid_user, pn_user, seen_at) values (1, ?, '31600000102', 0)",
        args: [hidden.lid.split("@")[0]!],
      },
    ]);
    const again = await restarted(world);

    await simulator.faults.redeliver({ number: OWN, id, as: "send" });
    await hidden.sendText(OWN, "and now");

    expect((await receivedText(again, "and now")).chatKey).toBe("31600000102@s.whatsapp.net");
    expect(texts(again)).toEqual(["and now"]);
  });
});

describe("messages in another order", () => {
  it("are all read, each once, and acknowledged", async () => {
    const world = await setup();
    const { simulator, guest, number, store } = world;
    await answered(world);
    const sent = Array.from({ length: 8 }, (_, n) => `text ${n}`);

    await simulator.faults.reorderStanzas({ number: OWN, n: sent.length, order: [7, 0, 3, 1, 6, 2, 5, 4] });
    for (const text of sent) await guest.sendText(OWN, text);
    await until("all of them", () => number.received.length >= 1 + sent.length, 30_000);

    await acknowledged(simulator);
    expect(texts(number).slice(1)).toEqual([7, 0, 3, 1, 6, 2, 5, 4].map((n) => `text ${n}`));
    expect(await missing(store)).toEqual([]);
  });

  it.each([
    ["the new text of those that are not sealed", false, ["Tomorrow at ten", "Tomorrow"]],
    ["no text of sealed ones, which nobody can open then", true, ["", ""]],
  ])(
    "may bring an edit before its message: all are kept, with %s",
    async (_, sealedEdits, [second, first]) => {
      const world = await setup({ sealedEdits });
      const { simulator, guest, number } = world;
      await answered(world);

      await simulator.faults.reorderStanzas({ number: OWN, n: 3, order: [2, 1, 0] });
      const { id } = await guest.sendText(OWN, "Tomorow");
      await guest.edit(id, "Tomorrow");
      await guest.edit(id, "Tomorrow at ten");
      await receivedText(number, "Tomorow");

      expect(number.received.slice(1).map(({ type, text, targetId }) => ({ type, text, targetId }))).toEqual([
        { type: "edit", text: second, targetId: id },
        { type: "edit", text: first, targetId: id },
        { type: "text", text: "Tomorow", targetId: null },
      ]);
    },
  );

  it("do not keep a vote from being read that comes right behind its poll", async () => {
    const { simulator, guest, number } = await setup();
    const voter = await simulator.addContact("31600000101");
    const group = await simulator.addGroup({ subject: "Team", members: [GUEST, OWN, voter.number] });
    await simulator.faults.holdDeliveries({ number: OWN });
    const poll = await guest.send(group.id, { kind: "poll", name: "Lunch?", options: ["Soup", "Pizza"] });
    await voter.waitForMessage({ id: poll.id });
    await voter.votePoll(poll.id, ["Pizza"]);
    await simulator.faults.releaseDeliveries({ number: OWN });
    await acknowledged(simulator);

    expect(number.received.map(({ type }) => type)).toEqual(["poll", "poll_vote"]);
    expect(number.received[1]?.poll?.vote?.selected).toEqual(["Pizza"]);
  });
});

describe("a message that cannot be read at first", () => {
  it("is missing until its sender sends it again, then comes once and is not missing any more", async () => {
    const world = await setup();
    const { guest, simulator, store } = world;
    await answered(world);
    const number = await withoutSessions(world);

    const { id } = await guest.sendText(OWN, "unreadable at first");
    await receivedText(number, "unreadable at first");

    await acknowledged(simulator);
    expect(texts(number)).toEqual(["unreadable at first"]);
    expect(await missing(store)).toEqual([{ id, reason: "undecryptable", resolved: true }]);
  });

  it("is asked of the owner's phone after a restart, and is one when its sender sends it too in the end", async () => {
    const world = await setup();
    const { guest, simulator, store } = world;
    await answered(world);
    // Neither of the two who could send it again is online.
    await simulator.faults.holdDeliveries({ number: GUEST, device: 0 });
    await simulator.faults.holdDeliveries(PHONE);
    const unable = await withoutSessions(world);
    const { id } = await guest.sendText(OWN, "from the phone");
    await until("the note", async () => (await missing(store)).length === 1);
    await acknowledged(simulator);
    await unable.close();
    // What is asked of the phone now waits there from before; a new question comes with the new connection.
    const number = await restarted({ ...world, number: unable });
    await simulator.faults.releaseDeliveries(PHONE);
    await receivedText(number, "from the phone");
    expect(await missing(store)).toEqual([{ id, reason: "undecryptable", resolved: true }]);

    await simulator.faults.releaseDeliveries({ number: GUEST, device: 0 });
    await guest.sendText(OWN, "after it");
    await receivedText(number, "after it");
    await acknowledged(simulator);
    expect(texts(number)).toEqual(["from the phone", "after it"]);
  });
});

describe("what the phone's history names", () => {
  it("and never came comes from there when it was written since the linking, once; what is older stays history", async () => {
    const simulator = await simulate();
    const now = Math.floor(Date.now() / 1000);
    const guest = await simulator.addContact(GUEST, { name: "Ana" });
    await simulator.addNumber(OWN, {
      history: {
        chats: [
          {
            with: GUEST,
            messages: [
              { text: "before the linking", timestamp: now - 3_600 },
              { text: "since the linking", timestamp: now + 600, id: "3A00000000000000000001" },
              { text: "by hand, since then", timestamp: now + 601, fromMe: true },
            ],
          },
        ],
      },
    });
    const store = await testStore(simulator);
    const number = (await whatsappOn(simulator, store)).number(1);
    await link(simulator, number);

    await receivedText(number, "since the linking");
    await guest.sendText(OWN, "after it");
    await receivedText(number, "after it");

    expect(texts(number)).toEqual(["since the linking", "by hand, since then", "after it"]);
    expect(number.received[0]).toMatchObject({ number: GUEST, fromMe: false, id: "3A00000000000000000001" });
    expect(number.received[1]).toMatchObject({ number: OWN, fromMe: true });
    expect((await missing(store)).map(({ reason, resolved }) => [reason, resolved])).toEqual([
      ["history", true],
      ["history", true],
    ]);
  });
});

describe("a message that came without content", () => {
  it("comes from the owner's phone as its writer's, once, also when it is delivered after all", async () => {
    const { simulator, guest, number, store } = await setup();
    await guest.sendText(OWN, "hello");
    await receivedText(number, "hello");

    await simulator.faults.placeholders({ number: OWN, n: 1 });
    const { id } = await guest.sendText(OWN, "by the phone");
    const message = await receivedText(number, "by the phone");

    expect(message).toMatchObject({
      id,
      type: "text",
      number: GUEST,
      sender: `${GUEST}@s.whatsapp.net`,
      chatKey: `${GUEST}@s.whatsapp.net`,
      chatKind: "dm",
      fromMe: false,
      pushName: "Ana",
      lid: guest.lid,
    });
    expect(await missing(store)).toEqual([{ id, reason: "unavailable", resolved: true }]);

    await simulator.faults.redeliver({ number: OWN, id, as: "send" });
    await guest.sendText(OWN, "after it");
    await receivedText(number, "after it");
    await acknowledged(simulator);
    expect(texts(number)).toEqual(["hello", "by the phone", "after it"]);
  });

  it("comes in a group, from its writer", async () => {
    const { simulator, guest, number } = await setup();
    const group = await simulator.addGroup({ subject: "Team", members: [GUEST, OWN] });
    await guest.sendText(group.id, "hello all");
    await receivedText(number, "hello all");

    await simulator.faults.placeholders({ number: OWN, n: 1 });
    await guest.sendText(group.id, "by the phone");

    expect(await receivedText(number, "by the phone")).toMatchObject({
      chatKey: group.id,
      chatKind: "group",
      number: GUEST,
      sender: `${GUEST}@s.whatsapp.net`,
    });
  });

  it("is not lost when the phone's answer could not be stored", async () => {
    const { simulator, guest, number, store } = await setup();
    await guest.sendText(OWN, "hello");
    await receivedText(number, "hello");
    store.away = true;
    await simulator.faults.placeholders({ number: OWN, n: 1 });
    const { id } = await guest.sendText(OWN, "by the phone");
    await until("the end of the connection", () => number.closes.some(({ code }) => code === 503), 30_000);
    await number.close();
    // The phone would not answer a second time.
    await simulator.faults.holdDeliveries(PHONE);
    store.away = false;

    await number.connect();

    expect((await receivedText(number, "by the phone")).id).toBe(id);
  });

  it("is asked for after a crash that came before the question", async () => {
    const world = await setup();
    const { simulator, guest, number, store } = world;
    await guest.sendText(OWN, "hello");
    await receivedText(number, "hello");
    await simulator.faults.placeholders({ number: OWN, n: 1 });
    const { id } = await guest.sendText(OWN, "by the phone");
    // Baileys waits two seconds before it asks; the connection is gone by then.
    await until("its acknowledgement", async () => (await missing(store)).length === 1);
    await acknowledged(simulator);
    const again = await restarted(world);

    expect((await receivedText(again, "by the phone")).id).toBe(id);
  });

  it.each(["view_once", "view_once_unavailable_fanout"])(
    "by WhatsApp's own rule (%s) is asked of nobody",
    async (type) => {
      const { simulator, guest, number, store } = await setup();
      await guest.sendText(OWN, "hello");
      await receivedText(number, "hello");
      await simulator.faults.placeholders({ number: OWN, n: 1, type });
      const { id } = await guest.sendText(OWN, "for your eyes only");
      await guest.sendText(OWN, "after it");
      await receivedText(number, "after it");
      await acknowledged(simulator);

      expect(await missing(store)).toEqual([{ id, reason: "phone_only", resolved: false }]);
      expect(texts(number)).toEqual(["hello", "after it"]);
    },
  );
});
