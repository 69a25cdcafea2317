import { expect, it } from "vitest";
import type { WebSocket } from "ws";
import type { Simulator } from "../../src/simulator/index.ts";
import { again, link, simulate, until } from "./_setup.ts";
import type { Client } from "./_setup.ts";

const NUMBER = "31600000001";
const OTHER = "31600000002";
const CONTACT = "31611111111";
const TARGET = { number: NUMBER };

async function linked(sim: Simulator, config = {}) {
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  return { contact, client: await link(sim, NUMBER, config) };
}

/** The WebSocket below a client. */
const rawSocket = (client: Client): WebSocket =>
  (client.socket.ws as unknown as { socket: WebSocket }).socket;

/** A whole round over another connection, begun later: what the first one was to get has come by then. */
async function roundElsewhere(sim: Simulator): Promise<void> {
  await sim.addNumber(OTHER);
  const client = await link(sim, OTHER);
  await sim.sendText(CONTACT, OTHER, "round");
  await client.untilText("round");
}

it("leaves a connection open on which nothing goes either way, and lets it all arrive later", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  const socket = rawSocket(client);
  let pongs = 0;
  socket.on("pong", () => (pongs += 1));

  await sim.faults.halfOpen(TARGET);
  socket.ping();
  await contact.sendText(NUMBER, "into the void");
  const said = client.say(contact.jid, "from the void");
  await roundElsewhere(sim);

  expect([client.texts, await contact.messages({ from: NUMBER }), pongs]).toEqual([[], [], 0]);
  expect([socket.readyState, await sim.online(NUMBER), client.closeCodes.length]).toEqual([
    socket.OPEN,
    true,
    1,
  ]);

  expect(await sim.faults.endHalfOpen({ ...TARGET, how: "resume" })).toBe(1);
  await client.untilText("into the void");
  expect((await said).ack!.attrs.error).toBeUndefined();
  await contact.waitForMessage({ text: "from the void" });
  await until("pong", () => pongs === 1);
});

it("is noticed by the client alone, which then gets everything on a new connection", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim, { keepAliveIntervalMs: 2000 });
  await sim.faults.halfOpen(TARGET);
  await contact.sendText(NUMBER, "unseen");
  const socket = rawSocket(client);
  // The client gives up after five seconds more than its interval; its close is not answered either.
  await until("given up", () => socket.readyState === socket.CLOSING, 60_000);
  expect(await sim.online(NUMBER)).toBe(true);

  const back = again(sim, client);
  expect((await back.untilText("unseen")).type).toBe("append");
  await back.untilOpen();
  expect(socket.readyState).toBe(socket.CLOSING);
  expect(await sim.faults.endHalfOpen(TARGET)).toBe(1);
  await until("closed", () => socket.readyState === socket.CLOSED);
  expect(back.isOpen).toBe(true);
});

it("breaks the connection at its end when told to drop it", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  await sim.faults.halfOpen(TARGET);
  await contact.sendText(NUMBER, "lost on the way");
  await sim.faults.endHalfOpen(TARGET);
  expect(await client.untilClosed(2)).toBe(428);
  expect(client.texts).toEqual([]);
  await again(sim, client).untilText("lost on the way");
});

it("answers and acknowledges on a deaf connection, but delivers nothing until it is told to", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  await sim.faults.deaf(TARGET);
  await contact.sendText(NUMBER, "unheard");
  expect((await client.say(contact.jid, "heard")).ack!.attrs.error).toBeUndefined();
  await contact.waitForMessage({ text: "heard" });
  const ping = { tag: "iq", attrs: { to: "s.whatsapp.net", type: "get", xmlns: "w:p" } };
  const pong = await client.socket.query({ ...ping, content: [{ tag: "ping", attrs: {} }] });
  expect(pong.attrs.type).toBe("result");
  expect([client.texts, client.receipts]).toEqual([[], []]);

  await sim.faults.endDeaf(TARGET);
  await client.untilText("unheard");
});

it("delivers on the next connection what a deaf one did not get", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  await sim.faults.deaf(TARGET);
  await contact.sendText(NUMBER, "unheard");
  await client.end();
  const back = again(sim, client);
  expect((await back.untilText("unheard")).type).toBe("append");
  await contact.sendText(NUMBER, "live");
  expect((await back.untilText("live")).type).toBe("notify");
});
