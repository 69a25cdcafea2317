import { once } from "node:events";
import { expect, it } from "vitest";
import type { WebSocket } from "ws";
import type { Simulator } from "../../src/simulator/index.ts";
import { again, link, simulate, until } from "./_setup.ts";
import type { Client } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";
const TARGET = { number: NUMBER };

async function linked(sim: Simulator) {
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT);
  return { contact, client: await link(sim, NUMBER) };
}

/** Every WebSocket message that the client gets from now on. */
function piecesOf(client: Client): Buffer[] {
  const pieces: Buffer[] = [];
  const { socket } = client.socket.ws as unknown as { socket: WebSocket };
  socket.on("message", (data: Buffer) => pieces.push(data));
  return pieces;
}

/** How many whole frames the bytes hold, and what is left over. */
function framesIn(bytes: Buffer): { count: number; rest: number } {
  let [count, rest] = [0, bytes];
  while (rest.length >= 3 && rest.length >= 3 + rest.readUIntBE(0, 3)) {
    rest = rest.subarray(3 + rest.readUIntBE(0, 3));
    count += 1;
  }
  return { count, rest: rest.length };
}

/** Milliseconds that so many pieces of one byte take. */
const msFor = (pieces: Buffer[], bytesPerSecond: number): number => (pieces.length / bytesPerSecond) * 1000;

it("drips bytes one by one at the given rate", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  await sim.faults.slowFrames({ ...TARGET, bytesPerSecond: 300 });
  const pieces = piecesOf(client);
  const started = performance.now();
  await contact.sendText(NUMBER, "drop by drop");
  await client.untilText("drop by drop");
  const took = performance.now() - started;

  expect(pieces.length).toBeGreaterThan(100);
  expect(pieces.every(({ length }) => length === 1)).toBe(true);
  // No faster than the rate; timers count whole milliseconds.
  expect(took).toBeGreaterThan(msFor(pieces, 300) * 0.8);
  await sim.faults.slowFrames({ ...TARGET, bytesPerSecond: 0 });
  await contact.sendText(NUMBER, "in one piece");
  await client.untilText("in one piece");
  expect(pieces.at(-1)!.length).toBeGreaterThan(1);
});

it("splits frames over several WebSocket messages", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  await sim.faults.splitFrames({ ...TARGET, bytes: 50 });
  const pieces = piecesOf(client);
  await contact.sendText(NUMBER, "in pieces");
  await client.untilText("in pieces");
  await until("receipts", async () => (await sim.pending(NUMBER)) === 0);

  expect(pieces.every(({ length }) => length <= 50)).toBe(true);
  expect(framesIn(pieces[0]!).count).toBe(0);
  expect(framesIn(Buffer.concat(pieces)).count).toBeLessThan(pieces.length);
});

it("packs several frames into one WebSocket message", async () => {
  // A bare client takes the first messages from a new LID in any order.
  const sim = await simulate({ behaviour: { lidChats: false } });
  const { contact, client } = await linked(sim);
  const texts = ["one", "two", "three"];
  await sim.faults.holdDeliveries(TARGET);
  for (const text of texts) await contact.sendText(NUMBER, text);
  await sim.faults.packFrames({ ...TARGET, ms: 20 });
  const pieces = piecesOf(client);
  await sim.faults.releaseDeliveries(TARGET);
  await until("texts", () => client.texts.length === texts.length);

  expect(client.texts).toEqual(texts);
  expect(Math.max(...pieces.map((piece) => framesIn(piece).count))).toBeGreaterThanOrEqual(texts.length);
  expect(pieces.every((piece) => framesIn(piece).rest === 0)).toBe(true);
});

for (const how of ["close", "cut"] as const) {
  it(`ends a frame and the connection in the middle of a message (${how}): it comes again`, async () => {
    const sim = await simulate();
    const { contact, client } = await linked(sim);
    const { socket } = client.socket.ws as unknown as { socket: WebSocket };
    const pieces = piecesOf(client);
    const closed = once(socket, "close");
    await sim.faults.truncateFrame({ ...TARGET, tag: "message", how });
    await contact.sendText(NUMBER, "half");
    expect((await closed)[0]).toBe(how === "close" ? 1005 : 1006);
    expect(await client.untilClosed(2)).toBe(428);
    expect(framesIn(pieces.at(-1)!)).toMatchObject({ count: 0, rest: pieces.at(-1)!.length });
    expect(client.texts).toEqual([]);
    await again(sim, client).untilText("half");
  });
}

it("damages one frame, so that it does not decrypt", async () => {
  const sim = await simulate();
  const { contact, client } = await linked(sim);
  const failures: string[] = [];
  const onRejection = (error: Error): void => void failures.push(error.message);
  // A bare client looks at its frames in a promise that nobody waits for.
  const others = process.rawListeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", onRejection);
  try {
    await sim.faults.corruptFrame({ ...TARGET, tag: "message" });
    await contact.sendText(NUMBER, "damaged");
    await until("failure", () => failures.length > 0);
  } finally {
    process.off("unhandledRejection", onRejection);
    for (const listener of others) process.on("unhandledRejection", listener as never);
  }
  expect(failures).toEqual([expect.stringContaining("unable to authenticate data")]);
  expect(client.texts).toEqual([]);
  await contact.sendText(NUMBER, "whole");
  await client.untilText("whole");
  await sim.faults.dropSocket(TARGET);
  await client.untilClosed(2);
  await again(sim, client).untilText("damaged");
});
