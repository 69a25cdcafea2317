import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store/store.ts";
import {
  GUEST,
  link,
  OWN,
  simulate,
  temporaryFolder,
  testStore,
  until,
  whatsappOn,
  withoutInbox,
  type TestNumber,
} from "./_setup.ts";
import { journalInsert } from "../../src/whatsapp/signal/journal-rows.ts";
import { rawRows } from "../unit/store/rows.ts";

const ID = "3EB0AAAAAAAAAAAAAAAAAA";

async function setup(folder = temporaryFolder()) {
  const simulator = await simulate();
  const owner = await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana" });
  const store = withoutInbox(await testStore(simulator, folder));
  const gateway = await whatsappOn(simulator, store);
  const number = gateway.number(1);
  await link(simulator, number);
  return { simulator, owner, guest, store, gateway, number };
}

const receivedText = (number: TestNumber, text: string) =>
  until(`the text ${text}`, () => number.received.find((message) => message.text === text));

const journalRows = (store: Store) =>
  rawRows(store, "select stanza_id, content from journal where stanza_id != ''", []);

const unspent = (store: Store) =>
  rawRows(store, "select stanza_id from journal where stanza_id != '' and content is not null", []);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const missing = (store: Store) => rawRows(store, "select wa_id, reason from missing_messages", []);

describe("direct messages", () => {
  it("a text comes in, and a reply arrives once with the id that was given", async () => {
    const { guest, number } = await setup();

    await guest.sendText(OWN, "hello");
    const message = await receivedText(number, "hello");

    expect(message).toMatchObject({
      type: "text",
      number: GUEST,
      sender: `${GUEST}@s.whatsapp.net`,
      chatKey: `${GUEST}@s.whatsapp.net`,
      chatKind: "dm",
      fromMe: false,
      pushName: "Ana",
      lid: guest.lid,
    });
    expect(await number.send(GUEST, "good day", ID)).toEqual({ kind: "sent" });
    expect((await guest.waitForMessage({ text: "good day" })).id).toBe(ID);
    await until("the delivery receipt", () =>
      number.receipts.some(({ waId, state }) => waId === ID && state === "delivered"),
    );
  });

  it("a contact that writes from its LID is known by its number", async () => {
    const { simulator, number } = await setup();
    const hidden = await simulator.addContact("31600000101", { addressing: "lid" });

    await hidden.sendText(OWN, "from a LID");
    const message = await receivedText(number, "from a LID");

    expect(message).toMatchObject({
      chat: hidden.lid,
      chatKey: "31600000101@s.whatsapp.net",
      number: "31600000101",
      lid: hidden.lid,
    });
    expect(await number.send(message.chat, "answer", ID)).toEqual({ kind: "sent" });
    await hidden.waitForMessage({ text: "answer" });
  });

  it("a contact that hides its number is known by its LID", async () => {
    const { simulator, number } = await setup();
    const hidden = await simulator.addContact("31600000102", { hidesNumber: true });

    await hidden.sendText(OWN, "who am I");
    const message = await receivedText(number, "who am I");

    expect(message).toMatchObject({ chatKey: hidden.lid, sender: hidden.lid, number: null });
  });

  it("what the owner types on the phone is the number's own, in the other side's chat", async () => {
    const { owner, guest, number } = await setup();
    await guest.sendText(OWN, "hello");
    await receivedText(number, "hello");

    await owner.typeAsOwner(GUEST, "I will look into it");
    const message = await receivedText(number, "I will look into it");

    expect(message).toMatchObject({
      fromMe: true,
      number: OWN,
      chatKey: `${GUEST}@s.whatsapp.net`,
      sender: `${OWN}@s.whatsapp.net`,
    });
  });

  it("a quoted reply names what it quotes", async () => {
    const { guest, number } = await setup();
    await guest.sendText(OWN, "how much is it?");
    const question = await receivedText(number, "how much is it?");

    const draft = {
      kind: "text" as const,
      text: "ten",
      quote: { id: question.id, sender: question.sender, fromMe: false, raw: question.raw },
    };
    const outcome = await number.connection().send({ waId: ID, jid: question.chat, draft });

    expect(outcome).toEqual({ kind: "sent" });
    expect((await guest.waitForMessage({ text: "ten" })).id).toBe(ID);
  });

  it("the server's refusal comes back with its code", async () => {
    const { simulator, guest, number } = await setup();
    await guest.sendText(OWN, "hello");
    await receivedText(number, "hello");

    await simulator.faults.errorAck({ number: OWN, code: 479 });

    expect(await number.send(GUEST, "no", ID)).toMatchObject({ kind: "refused", code: 479 });
  });

  it("a send to a number without WhatsApp is refused, and nothing goes out", async () => {
    const { simulator, number } = await setup();

    const outcome = await number.send("31600009999", "anybody?", ID);

    expect(outcome).toEqual({ kind: "refused", code: 404, reason: "not_on_whatsapp" });
    expect(await simulator.countStanzas({ number: OWN, direction: "in", tag: "message", id: ID })).toBe(0);
  });

  it("a contact that cannot read a message gets it again, also after a restart", async () => {
    const { simulator, guest, number, store, gateway } = await setup();
    await guest.sendText(OWN, "hello");
    await receivedText(number, "hello");
    await number.send(GUEST, "one", "3EB0BBBBBBBBBBBBBBBBBB");
    const session = "select device_id, type, id, value from wa_keys where type = 'session'";
    const before = await rawRows(store, session, []);
    await number.send(GUEST, "two", "3EB0CCCCCCCCCCCCCCCCCC");
    // An old copy of the sessions is put back, as from a backup: the next text uses a key that was used before.
    await number.close();
    await store.writer.commit(
      before.map((row) => ({
        sql: "update wa_keys set value = ? where device_id = ? and type = ? and id = ?",
        args: [
          new Uint8Array(row.value as ArrayBuffer),
          Number(row.device_id),
          String(row.type),
          String(row.id),
        ],
      })),
    );
    const restored = (await whatsappOn(simulator, store, gateway.sent)).number(1);
    await restored.connect();
    await until("the connection to open", () => restored.opens === 1);

    await simulator.faults.holdDeliveries({ number: OWN });
    await restored.send(GUEST, "three", ID);
    await simulator.expectViolation("message_key_reused", { timeoutMs: 10_000 });
    await simulator.expectViolation("undecryptable", { timeoutMs: 10_000 });
    await restored.close();
    const restarted = (await whatsappOn(simulator, store, gateway.sent)).number(1);
    await restarted.connect();
    await simulator.faults.releaseDeliveries({ number: OWN });

    expect((await guest.waitForMessage({ text: "three" })).id).toBe(ID);
  });
});

describe("groups", () => {
  it.each(["lid", "pn"] as const)("texts go both ways in a group addressed by %s", async (addressing) => {
    const { simulator, guest, number } = await setup();
    const group = await simulator.addGroup({ subject: "Team", members: [GUEST, OWN], addressing });

    await guest.sendText(group.id, "hello all");
    const message = await receivedText(number, "hello all");

    expect(message).toMatchObject({ chat: group.id, chatKey: group.id, chatKind: "group", number: GUEST });
    expect(message.participant).toBe(addressing === "lid" ? guest.lid : guest.jid);
    expect(await number.send(group.id, "hello Ana", ID)).toEqual({ kind: "sent" });
    await guest.waitForMessage({ text: "hello Ana", chat: group.id });
    expect(await number.connection().groups()).toMatchObject([{ id: group.id, subject: "Team", size: 2 }]);
  });
});

describe("what was received", () => {
  it("is not acknowledged before it is committed", async () => {
    const { simulator, guest, store, number } = await setup();
    await guest.sendText(OWN, "first");
    await receivedText(number, "first");
    await until("its receipt", async () => (await simulator.pending(OWN)) === 0);
    const { commit } = store.writer;
    let release: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    let held = 0;
    store.writer.commit = async (statements) => {
      held++;
      await gate;
      return commit(statements);
    };

    const { id } = await guest.sendText(OWN, "keep me");
    await until("the commit to be asked for", () => held > 0);
    const receipt = { number: OWN, device: 1, direction: "in", tag: "receipt", id } as const;
    // Everything that the client would do at once has had its turn when a question to the server is answered.
    await number.connection().groups();
    const early = await simulator.countStanzas(receipt);
    release?.();
    expect(early).toBe(0);

    await until("the receipt", async () => (await simulator.countStanzas(receipt)) === 1);
    await receivedText(number, "keep me");
    expect(await journalRows(store)).toContainEqual({ stanza_id: id, content: null });
  });

  it("comes once when the same ciphertext is delivered again, and nobody is asked to send it anew", async () => {
    const { simulator, guest, number } = await setup();
    await guest.sendText(OWN, "first");
    await receivedText(number, "first");
    await simulator.faults.dropBeforeReceipt({ number: OWN });
    await guest.sendText(OWN, "twice");
    await receivedText(number, "twice");
    await until("the cut", () => number.closes.length > 1);

    await number.connect();
    await until("the receipt", async () => number.opens > 1 && (await simulator.pending(OWN)) === 0);

    expect(number.received.map(({ text }) => text)).toEqual(["first", "twice"]);
    expect(
      await simulator.countStanzas({ number: OWN, direction: "in", tag: "receipt", type: "retry" }),
    ).toBe(0);
  });

  it("is neither acknowledged nor forgotten while it cannot be stored", async () => {
    const { simulator, guest, number, store } = await setup();

    store.away = true;
    await guest.sendText(OWN, "not lost");
    await until("the connection to close", () => number.closes.some(({ code }) => code === 503));
    expect(await journalRows(store)).toEqual([]);
    expect(await simulator.pending(OWN, 1)).toBeGreaterThan(0);
    await number.close();
    store.away = false;
    await number.connect();

    expect(await receivedText(number, "not lost")).toMatchObject({ number: GUEST });
  });

  it("that the database refuses whenever it comes is missing, once, and keeps nobody offline", async () => {
    const { simulator, guest, number, store } = await setup();

    store.refuses = true;
    const { id } = await guest.sendText(OWN, "never");
    await until("its note", async () => (await missing(store)).length === 1);
    await until("its receipt", async () => (await simulator.pending(OWN, 1)) === 0);
    store.refuses = false;
    await guest.sendText(OWN, "after it");
    await receivedText(number, "after it");

    expect(await missing(store)).toEqual([{ wa_id: id, reason: "undecryptable" }]);
    expect(number.closes.filter(({ code }) => code === 503)).toEqual([]);
  });

  it.each([
    ["no number", {}],
    ["missing", { t: null }],
    ["zero", { t: "0" }],
  ])("whose time is %s is one of the moment in which it came", async (_, fault) => {
    const { simulator, guest, number } = await setup();
    const before = Math.floor(Date.now() / 1000);

    await simulator.faults.badMessageTimes({ number: OWN, n: 1, ...fault });
    await guest.sendText(OWN, "when?");
    await guest.sendText(OWN, "now");
    await receivedText(number, "now");

    expect(number.received.map(({ text }) => text)).toEqual(["when?", "now"]);
    expect(number.received[0]!.timestamp).toBeGreaterThanOrEqual(before);
    expect(number.received[0]!.timestamp).toBeLessThanOrEqual(number.received[1]!.timestamp);
  });

  it("that version 0.1 has acknowledged and not stored is handed on, whatever stands beside it", async () => {
    const { guest, number, store } = await setup();
    await guest.sendText(OWN, "model");
    const model = await receivedText(number, "model");
    await number.close();
    const owed = (id: string, text: string) =>
      journalInsert(store, 1, `hash of ${id}`, {
        stanzaId: id,
        content: { message: { ...model, id, text }, plain: null },
      });
    const damage = "update journal set content = x'00' where hash = 'hash of BROKEN'";
    await store.writer.commit([owed("ONE", "one"), owed("BROKEN", "never"), owed("TWO", "two")]);
    await store.writer.commit([{ sql: damage, args: [] }]);

    await number.connect();
    await receivedText(number, "two");

    expect(number.received.map(({ text }) => text)).toEqual(["model", "one", "two"]);
    expect(await unspent(store)).toEqual([]);
    expect(await missing(store)).toEqual([{ wa_id: "BROKEN", reason: "undecryptable" }]);
  });

  it("of many chats waits for no commit of another chat, nor does a contact's first message", async () => {
    const { simulator, number, store } = await setup();
    const contacts = await simulator.addContacts(20, { prefix: "3165" });
    await number.close();
    for (const contact of contacts) await simulator.sendText(contact, OWN, `first of ${contact}`);
    const { commit } = store.writer;
    let open = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    // Nothing is committed before ten commits are asked for at once, or nothing more comes.
    store.writer.commit = async (statements) => {
      most = Math.max(most, ++open);
      if (open >= 10) for (const go of waiting.splice(0)) go();
      else await Promise.race([new Promise<void>((go) => waiting.push(go)), pause(200)]);
      return commit(statements).finally(() => open--);
    };

    await number.connect();
    await until("all of them", () => number.received.length === contacts.length, 60_000);

    expect(most).toBeGreaterThanOrEqual(10);
  });

  it("all of 50 texts that waited come in order", async () => {
    const { guest, number } = await setup();
    await number.close();
    for (let n = 0; n < 50; n++) await guest.sendText(OWN, `waited ${n}`);

    await number.connect();
    await until("all of them", () => number.received.length === 50, 30_000);

    expect(number.received.map(({ text }) => text)).toEqual(
      Array.from({ length: 50 }, (_, n) => `waited ${n}`),
    );
  });

  it("comes without waiting for the server's end of the offline messages", async () => {
    const { simulator, guest, number } = await setup();
    await number.close();
    await guest.sendText(OWN, "while away");
    await simulator.faults.withholdOffline({ number: OWN });

    await number.connect();

    await until("the text", () => number.received.length === 1);
    expect(number.received[0]?.text).toBe("while away");
  });
});

describe("an album", () => {
  it("is its pictures and films, each a message of its own; the announcement is acknowledged and nothing else", async () => {
    const { simulator, guest, number } = await setup();
    const { id: album } = await guest.send(OWN, { kind: "album", images: 2, videos: 1 });
    const file = { bytes: Buffer.from("picture") };

    await guest.send(OWN, { kind: "image", ...file, caption: "first" }, { album });
    await guest.send(OWN, { kind: "image", ...file }, { album });
    await guest.send(OWN, { kind: "video", ...file, caption: "film" }, { album });
    await guest.sendText(OWN, "that is all");

    await until("the text", () => number.received.some(({ text }) => text === "that is all"));
    const told = number.received.map(({ type, text, quoted }) => [type, text, quoted?.id]);
    expect(told.slice(-4)).toEqual([
      ["image", "first", undefined],
      ["image", "", undefined],
      ["video", "film", undefined],
      ["text", "that is all", undefined],
    ]);
    expect(number.received.some(({ id }) => id === album)).toBe(false);
    await until("the acknowledgements", async () => (await simulator.pending(OWN, 1)) === 0);
  });
});
