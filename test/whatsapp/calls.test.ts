import { describe, expect, it } from "vitest";
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
} from "./_setup.ts";

async function setup() {
  const simulator = await simulate();
  const owner = await simulator.addNumber(OWN, { name: "Shop" });
  const guest = await simulator.addContact(GUEST, { name: "Ana" });
  const store = withoutInbox(await testStore(simulator));
  const gateway = await whatsappOn(simulator, store);
  const number = gateway.number(1);
  await link(simulator, number);
  const nothingLeft = () => until("acks of the calls", async () => (await simulator.pending(OWN)) === 0);
  return { simulator, owner, guest, store, number, nothingLeft };
}

const callsOf = ({ received }: TestNumber) => received.filter(({ type }) => type === "call");
const theCall = (number: TestNumber) => until("the call", () => callsOf(number)[0]);

describe("a call", () => {
  it("is told of once, with its caller, and acknowledged; its end says nothing more, and the phone rings", async () => {
    const { simulator, guest, number, nothingLeft } = await setup();
    const { id } = await simulator.call(GUEST, OWN);
    const call = await theCall(number);
    await nothingLeft();
    expect(await simulator.callState(OWN, id)).toEqual({ state: "ringing" });
    await simulator.endCall(GUEST, OWN, id);
    await guest.sendText(OWN, "Are you there?");
    await until("the text", () => number.received.some(({ text }) => text === "Are you there?"));

    expect(call).toMatchObject({
      id,
      text: "",
      number: GUEST,
      chatKind: "dm",
      fromMe: false,
      pushName: "Ana",
    });
    expect(call.call).toEqual({ video: false, rejected: false });
    expect(callsOf(number)).toHaveLength(1);
    expect(Math.abs(call.timestamp - Date.now() / 1000)).toBeLessThan(60);
    await nothingLeft();
  });

  it("is not acknowledged before it is stored: it comes again, and is told of once", async () => {
    const { simulator, store, number, nothingLeft } = await setup();
    store.away = true;
    const { id } = await simulator.call(GUEST, OWN);
    await until("the end of the connection", () => number.closes.at(-1)?.code === 503);
    const acks = await simulator.stanzas({ number: OWN, device: 1, direction: "in", tag: "ack" });
    expect(acks.filter(({ attrs }) => attrs.class === "call")).toEqual([]);
    expect(callsOf(number)).toEqual([]);

    store.away = false;
    await number.connect();
    expect(await theCall(number)).toMatchObject({ id, waited: true });
    await nothingLeft();
    expect(callsOf(number)).toHaveLength(1);
  });

  it("that the database refuses whenever it comes keeps nobody offline", async () => {
    const { simulator, guest, store, number, nothingLeft } = await setup();
    store.refuses = true;
    await simulator.call(GUEST, OWN);
    await nothingLeft();
    store.refuses = false;
    await guest.sendText(OWN, "still there?");
    await until("the text", () => number.received.some(({ text }) => text === "still there?"));
    expect(number.closes.filter(({ code }) => code !== 515)).toEqual([]);
  });

  it("with a picture, by a LID, is told of by the number of its caller", async () => {
    const { simulator, number, nothingLeft } = await setup();
    const hidden = await simulator.addContact("31600000101", { addressing: "lid", name: "Bo" });
    await simulator.call("31600000101", OWN, { video: true });

    expect(await theCall(number)).toMatchObject({
      number: "31600000101",
      lid: hidden.lid,
      chat: hidden.lid,
      chatKey: "31600000101@s.whatsapp.net",
      call: { video: true, rejected: false },
    });
    await nothingLeft();
  });

  it("to a group is told of in the group", async () => {
    const { simulator, number, nothingLeft } = await setup();
    const group = await simulator.addGroup({ subject: "Team", members: [GUEST, OWN] });
    await simulator.call(GUEST, group.id);

    expect(await theCall(number)).toMatchObject({ chat: group.id, chatKind: "group", number: GUEST });
    await nothingLeft();
  });

  it("that the owner takes on the phone, or makes there, is the owner's own affair", async () => {
    const { simulator, number, nothingLeft } = await setup();
    const { id } = await simulator.call(GUEST, OWN);
    await theCall(number);
    await simulator.answerCall(OWN, id, "accept");
    await nothingLeft();
    expect(await simulator.callState(OWN, id)).toEqual({ state: "accepted", device: 0 });
    expect(callsOf(number)).toHaveLength(1);
  });
});

describe("a number that rejects calls", () => {
  it("rejects those of people and of groups, by number and by LID, and says so of them", async () => {
    const { simulator, number, nothingLeft } = await setup();
    number.rejectsCalls = true;
    await simulator.addContact("31600000101", { addressing: "lid" });
    const group = await simulator.addGroup({ subject: "Team", members: [GUEST, OWN] });
    const calls = [
      await simulator.call(GUEST, OWN, { video: true }),
      await simulator.call("31600000101", OWN),
      await simulator.call(GUEST, group.id),
    ];
    for (const { id } of calls)
      await until("the rejection", async () => (await simulator.callState(OWN, id)).state === "rejected");
    await until("the calls", () => callsOf(number).length === 3);

    for (const { id } of calls)
      expect(await simulator.callState(OWN, id)).toEqual({ state: "rejected", device: 1 });
    expect(callsOf(number).map(({ call }) => call?.rejected)).toEqual([true, true, true]);
    await nothingLeft();
  });

  it("rejects a call when it comes, however long storing takes", async () => {
    const { simulator, store, number } = await setup();
    number.rejectsCalls = true;
    store.away = true;
    const { id } = await simulator.call(GUEST, OWN);
    await until("the end of the connection", () => number.closes.at(-1)?.code === 503);

    expect(await simulator.callState(OWN, id)).toEqual({ state: "rejected", device: 1 });
  });

  it("leaves alone what waited while it was away: somebody may have taken it", async () => {
    const { simulator, number, nothingLeft } = await setup();
    number.rejectsCalls = true;
    await number.close();
    const { id } = await simulator.call(GUEST, OWN);
    await simulator.answerCall(OWN, id, "accept");
    await number.connect();

    expect(await theCall(number)).toMatchObject({ id, waited: true, call: { rejected: false } });
    expect(await simulator.callState(OWN, id)).toEqual({ state: "accepted", device: 0 });
    await nothingLeft();
  });
});
