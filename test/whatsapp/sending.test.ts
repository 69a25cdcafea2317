import { describe, expect, it } from "vitest";
import { createTime, systemTime } from "../../src/model/time.ts";
import { GUEST, link, OWN, simulate, testStore, until, whatsappOn } from "./_setup.ts";

const OTHER = "31600000101";
const ID = "3EB0AAAAAAAAAAAAAAAAAA";
const OTHER_ID = "3EB0BBBBBBBBBBBBBBBBBB";
/** Ten seconds of a time limit pass in one. */
const HURRY = 10;

const hurried = createTime({
  ...systemTime,
  after: (ms, run) => systemTime.after(ms >= 5_000 ? ms / HURRY : ms, run),
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
  return { simulator, guest, other, number };
}

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
    expect(await number.send(GUEST, "hello", ID)).toEqual({ kind: "sent" });
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
    expect(await number.send(OTHER, "blocked", OTHER_ID)).toEqual({ kind: "sent" });
    await other.waitForMessage({ text: "blocked" });
    const written = { number: OWN, direction: "in", tag: "message" } as const;
    expect(await simulator.countStanzas({ ...written, id: OTHER_ID })).toBe(1);
  });
});
