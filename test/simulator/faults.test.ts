import { once } from "node:events";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { again, link, simulate, until } from "./_setup.ts";
import type { Simulator } from "../../src/simulator/index.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";
const CONTACT_JID = `${CONTACT}@s.whatsapp.net`;
const TARGET = { number: NUMBER };

/** A linked client that has exchanged a text each way with a contact. */
async function chatting(sim: Simulator) {
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await contact.sendText(NUMBER, "hi");
  await client.untilText("hi");
  await client.say(CONTACT_JID, "hello");
  await contact.waitForMessage({ text: "hello" });
  await until("receipts", async () => (await sim.pending(NUMBER)) === 0);
  return { contact, client };
}

/** The HTTP status that a WebSocket upgrade gets. */
async function upgrade(url: string): Promise<number | undefined> {
  const socket = new WebSocket(url);
  const status = await new Promise<number | undefined>((resolve) => {
    socket.once("open", () => resolve(101));
    socket.once("unexpected-response", (_request, response) => resolve(response.statusCode));
  });
  socket.on("error", () => {});
  socket.terminate();
  return status;
}

it("drops the line before the nth receipt: the message comes again", async () => {
  const sim = await simulate();
  const { contact, client } = await chatting(sim);
  await sim.faults.dropBeforeReceipt({ ...TARGET, nth: 2 });
  await contact.sendText(NUMBER, "first");
  const { id } = await contact.sendText(NUMBER, "second");
  expect(await client.untilClosed(2)).toBe(428);
  expect(await sim.pending(NUMBER)).toBe(1);
  await again(sim, client).untilOpen();
  await until("redelivery", async () => (await sim.pending(NUMBER)) === 0);
  const times = await sim.stanzas({ number: NUMBER, device: 1, direction: "out", tag: "message", id });
  // A bare client cannot read the second delivery and asks for a third, which the simulator sends.
  expect(times.slice(0, 2).map(({ attrs }) => attrs.offline)).toEqual([undefined, "0"]);
});

it("drops the line after the receipt: the message does not come again", async () => {
  const sim = await simulate();
  const { contact, client } = await chatting(sim);
  await sim.faults.dropAfterReceipt(TARGET);
  await contact.sendText(NUMBER, "taken");
  expect(await client.untilClosed(2)).toBe(428);
  expect(await sim.pending(NUMBER)).toBe(0);
  const back = await again(sim, client).untilOpen();
  expect(back.texts).toEqual([]);
});

for (const code of [403, 405, 411, 419, 428, 440, 500, 503, 515]) {
  it(`closes a live connection with ${code}`, async () => {
    const sim = await simulate();
    await sim.addNumber(NUMBER);
    const client = await link(sim, NUMBER);
    await sim.faults.close({ ...TARGET, code });
    expect(await client.untilClosed(2)).toBe(code);
    await again(sim, client).untilOpen();
  });

  it(`refuses a login with ${code}, and takes the next`, async () => {
    const sim = await simulate();
    await sim.addNumber(NUMBER);
    const client = await link(sim, NUMBER);
    await client.end();
    await until("offline", async () => !(await sim.online(NUMBER)));
    await sim.faults.close({ ...TARGET, code });
    expect(await again(sim, client).untilClosed()).toBe(code);
    await again(sim, client).untilOpen();
  });
}

it("closes with 401 by removing the device", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  const client = await link(sim, NUMBER);
  await sim.faults.close({ ...TARGET, code: 401 });
  expect(await client.untilClosed(2)).toBe(401);
  expect(await number.companions()).toEqual([]);
});

it("falls silent, so that a client notices by itself with 408", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  const client = await link(sim, NUMBER, { keepAliveIntervalMs: 200 });
  await sim.faults.close({ ...TARGET, code: 408 });
  // Baileys waits five seconds more than its interval.
  await until("lost connection", () => client.closeCodes.length === 2);
  expect(client.closeCodes[1]).toBe(408);
});

it("delays acks by the given time", async () => {
  const sim = await simulate();
  const { client } = await chatting(sim);
  await sim.faults.delayAcks({ ...TARGET, ms: 300 });
  const started = performance.now();
  const { ack } = await client.say(CONTACT_JID, "slow");
  expect(performance.now() - started).toBeGreaterThan(290);
  expect(ack!.attrs.error).toBeUndefined();
});

it("holds acks until they are released, in order", async () => {
  const sim = await simulate();
  const { contact, client } = await chatting(sim);
  await sim.faults.holdAcks(TARGET);
  const done: string[] = [];
  const sends = ["one", "two"].map(async (text) => {
    await client.say(CONTACT_JID, text);
    done.push(text);
  });
  await contact.waitForMessage({ text: "two" });
  expect(done).toEqual([]);
  expect(await sim.faults.releaseAcks(TARGET)).toBe(2);
  await Promise.all(sends);
  expect(done).toEqual(["one", "two"]);
});

it("sends stanzas twice", async () => {
  const sim = await simulate();
  const { contact, client } = await chatting(sim);
  await sim.faults.duplicateStanzas({ ...TARGET, n: 1 });
  const { id } = await contact.sendText(NUMBER, "twice");
  await client.untilText("twice");
  const copies = await sim.stanzas({ number: NUMBER, direction: "out", tag: "message", id });
  expect(copies[1]!.seq).toBe(copies[0]!.seq + 1);
  await contact.sendText(NUMBER, "once");
  await client.untilText("once");
  expect(client.texts.filter((text) => text === "once")).toHaveLength(1);
});

it("withholds the end of the offline stanzas until it is restored", async () => {
  const sim = await simulate();
  const { client } = await chatting(sim);
  await client.end();
  await sim.faults.withholdOffline(TARGET);
  const back = again(sim, client);
  await until("open", () => back.isOpen);
  expect(back.isCaughtUp).toBe(false);
  await back.end();
  await sim.faults.restoreOffline(TARGET);
  await again(sim, client).untilOpen();
});

it("refuses WebSocket upgrades with an HTTP status, and takes the next", async () => {
  const sim = await simulate();
  await sim.faults.refuseUpgrade({ status: 503, times: 2 });
  expect([await upgrade(sim.wsUrl), await upgrade(sim.wsUrl), await upgrade(sim.wsUrl)]).toEqual([
    503, 503, 101,
  ]);
});

it("goes on when a client that it refuses breaks the connection off", async () => {
  const sim = await simulate();
  const { port } = new URL(sim.wsUrl);
  await sim.faults.refuseUpgrade({ status: 503, times: 20 });
  for (let time = 0; time < 20; time++) {
    const socket = connect(Number(port), "127.0.0.1");
    await once(socket, "connect");
    socket.write("GET /ws/chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    await once(socket, "data");
    // What has not been read makes it a reset.
    socket.write("more");
    socket.resetAndDestroy();
  }
  expect(await upgrade(sim.wsUrl)).toBe(101);
});

it("holds deliveries while a companion is online", async () => {
  const sim = await simulate();
  const { contact, client } = await chatting(sim);
  await sim.faults.holdDeliveries(TARGET);
  await contact.sendText(NUMBER, "wait");
  await contact.sendText(NUMBER, "for me");
  expect(await sim.pending(NUMBER)).toBe(2);
  expect(client.texts).toEqual(["hi"]);
  await sim.faults.releaseDeliveries(TARGET);
  await client.untilText("for me");
  expect(client.texts).toEqual(["hi", "wait", "for me"]);
});

it("breaks a connection off without a word", async () => {
  const sim = await simulate();
  const { client } = await chatting(sim);
  await sim.faults.dropSocket(TARGET);
  expect(await client.untilClosed(2)).toBe(428);
  await again(sim, client).untilOpen();
});

it("refuses messages with an error ack, as often as told", async () => {
  const sim = await simulate();
  const { contact, client } = await chatting(sim);
  await sim.faults.errorAck({ ...TARGET, to: CONTACT, code: 479, times: 1 });
  const { id, ack } = await client.say(CONTACT_JID, "refused");
  expect(ack!.attrs.error).toBe("479");
  await client.say(CONTACT_JID, "accepted");
  await contact.waitForMessage({ text: "accepted" });
  expect(await contact.messages({ id })).toEqual([]);
});

it("ends every armed fault with clear", async () => {
  const sim = await simulate();
  const { contact, client } = await chatting(sim);
  await sim.faults.holdDeliveries(TARGET);
  await sim.faults.errorAck({ ...TARGET, code: 463, times: 9 });
  await sim.faults.holdAcks(TARGET);
  await contact.sendText(NUMBER, "held");
  await sim.faults.clear();
  await client.untilText("held");
  expect((await client.say(CONTACT_JID, "free")).ack!.attrs.error).toBeUndefined();
});
