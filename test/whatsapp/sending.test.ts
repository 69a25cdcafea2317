import { describe, expect, it } from "vitest";
import { createTime, systemTime } from "../../src/model/time.ts";
import type { Simulator } from "../../src/simulator/index.ts";
import type { LibrarySimulator } from "../../src/simulator/inside.ts";
import type { SendOutcome } from "../../src/whatsapp/port.ts";
import { link as linkBare } from "../simulator/_setup.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

const OTHER = "31600000101";
const STRANGER = "31600000009";
const ID = "3EB0AAAAAAAAAAAAAAAAAA";
const OTHER_ID = "3EB0BBBBBBBBBBBBBBBBBB";
/** The time limits of a send pass ten times as fast; those of a connection do not. */
const HURRY = 10;

const hurried = createTime({
  ...systemTime,
  after: (ms, run) => systemTime.after(ms >= 8_000 && ms <= 15_000 ? ms / HURRY : ms, run),
});

async function setup() {
  const simulator = await simulate();
  await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana" });
  const other = await simulator.addContact(OTHER, { name: "Ben" });
  const store = { ...(await testStore(simulator)), time: hurried };
  const gateway = await whatsappOn(simulator, store);
  const number = gateway.number(1);
  await link(simulator, number);
  return { simulator, guest, other, number, store };
}

const devicesOf = (simulator: Simulator, number: string) => [
  ...(simulator as LibrarySimulator).server.world.account(number).devices.values(),
];

/** Tries again as the outbox does: a question that was lost is waited for a while by whoever asks the same. */
const sentInTheEnd = (send: () => Promise<SendOutcome>): Promise<unknown> =>
  until("a send with an outcome", async () => {
    const outcome = await send();
    expect(outcome.kind).toMatch(/^(sent|unknown)$/);
    return outcome.kind === "sent";
  });

describe("a question of a send that WhatsApp leaves unanswered", () => {
  it.each([
    ["for devices", { xmlns: "usync" }],
    ["for keys", { xmlns: "encrypt", child: "key" }],
  ])("(%s) says nothing: the message is sent under its id once there is an answer", async (_, question) => {
    const { simulator, guest, number } = await setup();
    await simulator.faults.unansweredIqs({ number: OWN, ...question, times: 100 });

    const outcome = await number.send(GUEST, "hello", ID);

    expect(outcome).toMatchObject({ kind: "unknown" });
    expect(await simulator.countStanzas({ number: OWN, direction: "in", tag: "message", id: ID })).toBe(0);
    await simulator.faults.clear();
    await sentInTheEnd(() => number.send(GUEST, "hello", ID));
    expect((await guest.waitForMessage({ text: "hello" })).id).toBe(ID);
  });

  it("delays nobody else's messages, and is not sent twice for it", async () => {
    const { simulator, guest, other, number } = await setup();
    await guest.sendText(OWN, "are you there?");
    await until("the question", () => number.received.some(({ text }) => text === "are you there?"));
    expect(await number.send(GUEST, "yes", ID)).toEqual({ kind: "sent" });
    await simulator.faults.unansweredIqs({ number: OWN, xmlns: "encrypt", child: "key", times: 100 });

    const order: string[] = [];
    const blocked = number.send(OTHER, "blocked", OTHER_ID).finally(() => order.push("blocked"));
    const free = number.send(GUEST, "free", "3EB0CCCCCCCCCCCCCCCCCC").finally(() => order.push("free"));

    expect(await free).toEqual({ kind: "sent" });
    expect(await blocked).toMatchObject({ kind: "unknown" });
    expect(order).toEqual(["free", "blocked"]);
    await simulator.faults.clear();
    await sentInTheEnd(() => number.send(OTHER, "blocked", OTHER_ID));
    await other.waitForMessage({ text: "blocked" });
    const written = { number: OWN, direction: "in", tag: "message" } as const;
    expect(await simulator.countStanzas({ ...written, id: OTHER_ID })).toBe(1);
  });
});

describe("a member of a group whose keys do not come", () => {
  it("holds up neither other chats of the number nor another of its groups", async () => {
    const { simulator, guest, number } = await setup();
    const near = await simulator.addGroup({ subject: "Near", members: [OWN, GUEST] });
    const far = await simulator.addGroup({ subject: "Far", members: [OWN, GUEST, OTHER] });
    await guest.sendText(OWN, "are you there?");
    await until("the question", () => number.received.some(({ text }) => text === "are you there?"));
    expect(await number.send(GUEST, "yes", ID)).toEqual({ kind: "sent" });
    expect(await number.send(near.id, "welcome", "3EB0DDDDDDDDDDDDDDDDDD")).toEqual({ kind: "sent" });
    await simulator.faults.unansweredIqs({ number: OWN, xmlns: "encrypt", child: "key", times: 100 });

    const order: string[] = [];
    const blocked = number.send(far.id, "blocked", OTHER_ID).finally(() => order.push("blocked"));
    const others = [
      number.send(GUEST, "free", "3EB0CCCCCCCCCCCCCCCCCC"),
      number.send(near.id, "free as well", "3EB0EEEEEEEEEEEEEEEEEE"),
    ];
    expect(await Promise.all(others)).toEqual([{ kind: "sent" }, { kind: "sent" }]);
    expect(order).toEqual([]);
    await blocked;
    await simulator.faults.clear();
    await sentInTheEnd(() => number.send(far.id, "blocked", OTHER_ID));
    await guest.waitForMessage({ text: "blocked" });
  });
});

describe("an address without devices", () => {
  const nobody = { kind: "refused", reason: "not_on_whatsapp" };

  it("is nobody's when WhatsApp knows no such LID, now and the next time", async () => {
    const { number } = await setup();
    expect(await number.send("77000000000001@lid", "hello", ID)).toMatchObject(nobody);
    expect(await number.send("77000000000001@lid", "hello", OTHER_ID)).toMatchObject(nobody);
  });

  it("is nobody's only when WhatsApp says so: silence is no answer, nor is one that names nobody", async () => {
    const { simulator, number } = await setup();
    await simulator.faults.unansweredIqs({ number: OWN, xmlns: "usync", times: 100 });
    expect(await number.send("77000000000001@lid", "hello", ID)).toMatchObject({ kind: "unknown" });
    await simulator.faults.clear();
    devicesOf(simulator, OWN).forEach((device) => (device.listed = false));
    // Not even this number itself is in the answer.
    const server = (simulator as LibrarySimulator).server;
    server.world.find = () => undefined;
    expect(await number.send("77000000000002@lid", "hello", OTHER_ID)).toMatchObject({ kind: "unknown" });
  });

  it("is somebody's whom WhatsApp names: the message is to blame, and may be tried again", async () => {
    const { simulator, guest, number } = await setup();
    const devices = devicesOf(simulator, GUEST);
    for (const device of devices) device.listed = false;
    for (const to of [guest.lid, GUEST]) {
      const outcome = await number.send(to, "hello", ID);
      expect(outcome).toEqual({ kind: "unknown", reason: expect.stringContaining("devices") });
    }
    for (const device of devices) device.listed = true;
    expect(await number.send(GUEST, "hello", OTHER_ID)).toEqual({ kind: "sent" });
  });
});

it("on a connection that is closed by now nothing is a message's own fault", async () => {
  const { simulator, number } = await setup();
  await simulator.faults.unansweredIqs({ number: OWN, xmlns: "usync", times: 100 });
  const sending = number.send(GUEST, "hello", ID);
  await number.close();
  expect(await sending).toMatchObject({ kind: "unknown", blame: "line" });
  expect(await number.send(GUEST, "hello", ID)).toMatchObject({ kind: "unknown", blame: "line" });
});

it("devices are asked for once, and keys once, for all messages to a contact", async () => {
  const { simulator, guest, number } = await setup();
  const asked = async (question: { xmlns: string; child?: string }): Promise<number> =>
    simulator.countStanzas({ number: OWN, direction: "in", tag: "iq", ...question });
  const before = [await asked({ xmlns: "usync" }), await asked({ xmlns: "encrypt", child: "key" })];

  for (let n = 0; n < 3; n++)
    expect(await number.send(GUEST, `text ${n}`, `${ID.slice(0, -1)}${n}`)).toEqual({ kind: "sent" });
  await guest.waitForMessage({ text: "text 2" });

  const after = [await asked({ xmlns: "usync" }), await asked({ xmlns: "encrypt", child: "key" })];
  expect(after.map((count, i) => count - before[i]!)).toEqual([1, 1]);
});

it("sends to several chats wait for no other's commit, and none leaves before its own", async () => {
  const { simulator, guest, other, number, store } = await setup();
  for (const [n, person] of [guest, other].entries()) {
    await person.sendText(OWN, "hello");
    await until("the text", () => number.received.length === n + 1);
    expect(await number.send(person.number, "hi", `${ID.slice(0, -1)}${n}`)).toEqual({ kind: "sent" });
  }
  const { commit } = store.writer;
  const held: (() => void)[] = [];
  let ofSessions = 0;
  store.writer.commit = (statements) => {
    if (statements.some(({ args }) => (args as unknown[]).includes("session"))) ofSessions++;
    return new Promise((resolve, reject) => held.push(() => void commit(statements).then(resolve, reject)));
  };

  const ids = ["3EB0DDDDDDDDDDDDDDDDD0", "3EB0DDDDDDDDDDDDDDDDD1"] as const;
  const sends = [number.send(GUEST, "one", ids[0]), number.send(OTHER, "two", ids[1])];
  // The ratchet of the owner's phone, which gets a copy of both, is in each of them.
  await until("both commits", () => ofSessions === 2);

  const written = { number: OWN, direction: "in", tag: "message" } as const;
  for (const id of ids) expect(await simulator.countStanzas({ ...written, id })).toBe(0);
  store.writer.commit = commit;
  for (const release of held) release();
  expect(await Promise.all(sends)).toEqual([{ kind: "sent" }, { kind: "sent" }]);
  await guest.waitForMessage({ text: "one" });
  await other.waitForMessage({ text: "two" });
});

it("whoever knows the id of a message does not get it by asking for it", async () => {
  const { simulator, guest, number } = await setup();
  await simulator.addNumber(STRANGER, { name: "Eve" });
  const stranger = await linkBare(simulator, STRANGER);
  await number.send(GUEST, "Ana's secret code is 4711", ID);
  await guest.waitForMessage({ text: "Ana's secret code is 4711" });

  const t = String(Math.floor(Date.now() / 1000));
  await stranger.socket.sendNode({
    tag: "receipt",
    attrs: { id: ID, to: `${OWN}@s.whatsapp.net`, type: "retry", t },
    content: [
      { tag: "retry", attrs: { count: "1", id: ID, t, v: "1" } },
      { tag: "registration", attrs: {}, content: Buffer.alloc(4, 1) },
    ],
  });

  await simulator.expectViolation("unknown_receipt");
  const from = { number: OWN, direction: "in" } as const;
  // Acknowledged when Baileys is done with it.
  await until("the receipt to be handled", async () =>
    (await simulator.stanzas({ ...from, tag: "ack" })).some(
      ({ attrs }) => attrs.class === "receipt" && attrs.id === ID && attrs.type === "retry",
    ),
  );
  expect(await simulator.countStanzas({ ...from, tag: "message", id: ID })).toBe(1);
  expect(stranger.texts).toEqual([]);
});
