import { describe, expect, it } from "vitest";
import { PICTURE } from "../crash/hook.ts";
import type { Incoming } from "../../src/model/messages.ts";
import { rawRows } from "../unit/store/rows.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn, type TestNumber } from "./_setup.ts";

const waId = (n: number): string => `3EB0${n.toString(16).toUpperCase().padStart(18, "0")}`;

/** A linked number and a contact that has been answered: the session between them is open on both sides. */
async function openChat({ everydayPath = true, demandsToken = false } = {}) {
  const simulator = await simulate({ seed: "everyday", behaviour: { privacyTokens: demandsToken } });
  await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana", demandsToken });
  const store = await testStore(simulator);
  const { ways, number: numberOf } = await whatsappOn(simulator, store, new Map(), everydayPath);
  const number = numberOf(1);
  await link(simulator, number);
  await guest.sendText(OWN, "hello");
  await until("the first text", () => number.received.length === 1);
  expect(await number.send(GUEST, "good day", waId(0))).toEqual({ kind: "sent" });
  await guest.waitForMessage({ text: "good day" });
  await until("everything acknowledged", async () => (await simulator.pending(OWN, 1)) === 0);
  return { simulator, guest, store, number, ways };
}

const arrived = (number: TestNumber, count: number): Promise<unknown> =>
  until(`${count} messages`, () => number.received.length >= count, 30_000);

describe("the everyday way", () => {
  it("is taken by texts, places and reactions of an open chat, and by replies; by nothing else", async () => {
    const { simulator, guest, number, ways } = await openChat();
    expect(ways).toContain("in ciphertext");
    ways.length = 0;

    await guest.sendText(OWN, "one");
    await arrived(number, 2);
    await guest.send(OWN, { kind: "location", latitude: 52.5, longitude: 13.4, name: "here" });
    await arrived(number, 3);
    await number.send(GUEST, "two", waId(1));
    await guest.waitForMessage({ text: "two" });
    expect(ways.filter((way) => way !== "out everyday")).toEqual(["in everyday", expect.any(String)]);
    expect(ways).toContain("out everyday");

    ways.length = 0;
    await guest.send(OWN, { kind: "image", bytes: PICTURE, caption: "look" });
    await arrived(number, 4);
    const group = await simulator.addGroup({ subject: "all", members: [GUEST, OWN] });
    await guest.sendText(group.id, "to all");
    await arrived(number, 5);
    await number.close();
    await guest.sendText(OWN, "while away");
    await number.connect();
    await arrived(number, 6);
    expect(ways).toEqual(["in kind", "in not_a_person", "in waited"]);
    await until("everything acknowledged", async () => (await simulator.pending(OWN, 1)) === 0);
  });

  it("gives the same messages as Baileys' way", async () => {
    const said = async (everydayPath: boolean): Promise<Partial<Incoming>[]> => {
      const { guest, number, ways } = await openChat({ everydayPath });
      await guest.sendText(OWN, "plain");
      await guest.send(OWN, { kind: "location", latitude: 52.5, longitude: 13.4, name: "here" });
      await guest.sendText(OWN, "plain again");
      await arrived(number, 4);
      expect(ways.some((way) => way === "in everyday")).toBe(everydayPath);
      // What is new with every message.
      return number.received.map(({ id: _id, timestamp: _timestamp, raw: _raw, ...message }) => message);
    };
    expect(await said(true)).toEqual(await said(false));
  });

  it("keeps the order of a chat whichever way each message takes, in and out", async () => {
    const { guest, number, ways } = await openChat();
    const written: string[] = [];
    for (let n = 0; n < 40; n++) {
      const text = `in ${n}`;
      written.push(text);
      if (n % 3 === 1) await guest.send(OWN, { kind: "image", bytes: PICTURE, caption: text });
      else await guest.sendText(OWN, text);
      if (n % 5 === 0) void number.send(GUEST, `out ${n}`, waId(100 + n));
    }
    await arrived(number, written.length + 1);
    const said = number.received.slice(1).map(({ text }) => text);
    expect(said).toEqual(written);
    expect(new Set(ways.filter((way) => way.startsWith("in ")))).toContain("in kind");
    expect(ways).toContain("in everyday");
  });

  it("leaves a stanza that comes again to the journal: stored once, acknowledged each time", async () => {
    const { simulator, guest, number, ways } = await openChat();
    await simulator.faults.duplicateStanzas({ number: OWN, n: 1 });
    ways.length = 0;
    await guest.sendText(OWN, "once");
    await arrived(number, 2);
    await until("both seen", () => ways.length === 2);
    await until("everything acknowledged", async () => (await simulator.pending(OWN, 1)) === 0);
    expect(ways).toEqual(["in everyday", "in key_used"]);
    expect(number.received.map(({ text }) => text)).toEqual(["hello", "once"]);
  });

  it("trusts no session whose identity is not the one that is stored for its contact", async () => {
    const { simulator, guest, store, number, ways } = await openChat();
    await number.close();
    const sessions = await rawRows(store, "SELECT id FROM wa_keys WHERE type = 'session'", []);
    const statements = sessions.map(({ id }) => ({
      sql: `INSERT INTO wa_keys (device_id, type, id, value, updated_at) VALUES (1, 'identity-key', ?, ?, 0)
        ON CONFLICT (device_id, type, id) DO UPDATE SET value = excluded.value`,
      args: [id as string, store.box.seal(Buffer.alloc(33, 5), `wa_keys:1:identity-key:${id as string}`)],
    }));
    await store.writer.commit(statements);
    // As after a restart: nothing is in memory.
    const restarted = await whatsappOn(simulator, store, new Map(), true);
    const again = restarted.number(1);
    await again.connect();
    await until("the connection to open", () => again.opens > 0);

    await guest.sendText(OWN, "who is this");
    await arrived(again, 1);
    expect(restarted.ways).toEqual(["in identity"]);
    expect(ways).not.toContain("in identity");
  });
});

describe("what is encrypted ahead of its commit", () => {
  const message = (n: number) => ({
    waId: waId(n),
    jid: `${GUEST}@s.whatsapp.net`,
    draft: { kind: "text" as const, text: `text ${n}` },
  });

  it("is read, in whatever order it leaves, also when some of it never does", async () => {
    const { guest, store, number, ways } = await openChat();
    const ahead = [1, 2, 3].map((n) => number.connection().encryptAhead!(message(n))!);
    expect(ahead.every((one) => one !== null)).toBe(true);
    await Promise.all(ahead.map(({ statements }) => store.writer.commit(statements)));
    for (const { committed } of ahead) committed();

    ways.length = 0;
    for (const n of [3, 4, 1])
      expect(await number.send(GUEST, `text ${n}`, waId(n))).toEqual({ kind: "sent" });
    await until("all of them", async () => (await guest.messages()).length === 4);
    expect((await guest.messages()).map(({ text }) => text)).toEqual([
      "good day",
      "text 3",
      "text 4",
      "text 1",
    ]);
    expect(ways).toEqual(["ahead everyday", "out everyday", "ahead everyday"]);
  });

  it("is encrypted anew when its commit has failed, and on another connection", async () => {
    const { simulator, guest, store, number } = await openChat();
    number.connection().encryptAhead!(message(1))!.failed();
    expect(await number.send(GUEST, "text 1", waId(1))).toEqual({ kind: "sent" });

    const lost = number.connection().encryptAhead!(message(2))!;
    await store.writer.commit(lost.statements);
    lost.committed();
    await number.close();
    const opens = number.opens;
    await number.connect();
    await until("the next connection", () => number.opens > opens);
    expect(await number.send(GUEST, "text 2", waId(2))).toEqual({ kind: "sent" });
    await until("both", async () => (await guest.messages()).length === 3);
    expect((await guest.messages()).map(({ text }) => text)).toEqual(["good day", "text 1", "text 2"]);
    const retries = { number: OWN, direction: "out", tag: "receipt", type: "retry" } as const;
    expect(await simulator.countStanzas(retries)).toBe(0);
  });

  it("is encrypted anew when its reader has got a new phone, or another device, meanwhile", async () => {
    const { simulator, guest, store, number, ways } = await openChat();
    for (const [n, change] of [
      () => simulator.changePhone(GUEST),
      () => simulator.addDevice(GUEST),
    ].entries()) {
      const before = await until("what is encrypted ahead", () =>
        number.connection().encryptAhead!(message(n)),
      );
      await store.writer.commit(before.statements);
      before.committed();
      await change();
      await until("the news", async () => (await simulator.pending(OWN, 1)) === 0);
      ways.length = 0;
      expect(await number.send(GUEST, `text ${n}`, waId(n))).toEqual({ kind: "sent" });
      expect(ways[0]).toBe("ahead devices_changed");
      await guest.waitForMessage({ text: `text ${n}` });
      await guest.sendText(OWN, `answer ${n}`);
      await arrived(number, n + 2);
      await until("everything acknowledged", async () => (await simulator.pending(OWN, 1)) === 0);
      // Its devices and sessions are known again.
      expect(await number.send(GUEST, `more ${n}`, waId(100 + n))).toEqual({ kind: "sent" });
    }
    const entries = await simulator.transcript({ number: OWN, direction: "to_contact" });
    expect(entries.filter(({ decrypted, tries }) => !decrypted || tries > 0)).toEqual([]);
  });

  it("carries the contact's token, and gives it ours: else it would be refused", async () => {
    const { simulator, number, store } = await openChat({ demandsToken: true });
    const given = () =>
      simulator.countStanzas({ number: OWN, device: 1, tag: "iq", xmlns: "privacy", child: "tokens" });
    await until("our token", async () => (await given()) > 0);
    const ahead = number.connection().encryptAhead!(message(1))!;
    await store.writer.commit(ahead.statements);
    ahead.committed();
    expect(await number.send(GUEST, "text 1", waId(1))).toEqual({ kind: "sent" });
  });

  it.each([true, false])(
    "is refused under a lock on first contacts like any message, and told until when (%s)",
    async (everydayPath) => {
      const { simulator, number, store } = await openChat({ everydayPath });
      const now = Date.now();
      await simulator.faults.reachoutTimelock({ number: OWN, seconds: 3_600 });
      await simulator.faults.errorAck({ number: OWN, code: 463, times: 2 });
      const ahead = number.connection().encryptAhead!(message(1));
      expect(ahead !== null).toBe(everydayPath);
      if (ahead) await store.writer.commit(ahead.statements);
      ahead?.committed();
      const outcome = await number.send(GUEST, "text 1", waId(1));
      expect(outcome).toMatchObject({ kind: "refused", code: 463, until: expect.any(Number) });
      expect((outcome as { until: number }).until).toBeGreaterThan(now);
      await simulator.faults.clear();
    },
  );

  it("is nothing that would take more: somebody else's session, a file, a number that nobody has written to", async () => {
    const { number } = await openChat();
    const connection = number.connection();
    const stranger = { ...message(1), jid: "31699999999@s.whatsapp.net" };
    const poll = { kind: "poll" as const, name: "tea?", options: ["yes", "no"], selectable: 1 };
    expect(connection.encryptAhead!(stranger)).toBeNull();
    expect(connection.encryptAhead!({ ...message(1), draft: poll as never })).toBeNull();
    await number.close();
    expect(connection.encryptAhead!(message(1))).toBeNull();
  });
});
