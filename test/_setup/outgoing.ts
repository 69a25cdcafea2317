import { type LibrarySimulator, children, type BinaryNode } from "../../src/simulator/inside.ts";
import type { Answer } from "./client.ts";
import { expect } from "vitest";
import { until, type World } from "./world.ts";

/** What tests of sending do beyond the simulator's own faults: to single chats, messages and phones. */

export const SHOP = "31600000001";

export async function sendText(world: World, number: string, message: string): Promise<Answer> {
  return world.gateway.post("/send-message", { sender: SHOP, number, message }, { key: world.key });
}

/** What `GET /messages/{id}` says. */
export async function recordOf({ gateway, key }: World, id: string): Promise<Record<string, any>> {
  return (await gateway.get(`/messages/${id}`, { key })).body["data"] ?? {};
}

export async function untilState(world: World, id: string, state: string): Promise<void> {
  await until(async () => (await recordOf(world, id))["state"] === state, 60_000);
}

/** How often the number has written this message on the wire. */
export async function attempts({ sim }: World, id: string): Promise<number> {
  return sim.countStanzas({ number: SHOP, device: 1, direction: "in", tag: "message", id });
}

/** Holds back the acks of messages to these contacts. @returns lets them go, and those to come pass */
export function holdAcksOf({ sim }: World, numbers: string[]): () => void {
  const { server } = sim as LibrarySimulator;
  const held: (() => void)[] = [];
  const waiting = new Set(numbers);
  server.hooks.ack.push((_sender, ack, connection) => {
    const number = server.world.find(ack.attrs.from)?.number;
    if (number === undefined || !waiting.has(number)) return false;
    held.push(() => connection.send(ack));
    return true;
  });
  return () => {
    waiting.clear();
    for (const release of held.splice(0)) release();
  };
}

/** The server loses the next message that the number sends, as if it had never been written. */
export function loseNextMessage({ sim }: World): void {
  let lost = false;
  (sim as LibrarySimulator).server.hooks.received.push((connection, node) => {
    if (lost || node.tag !== "message" || connection.device?.label !== `${SHOP}:1`) return false;
    lost = true;
    return true;
  });
}

/**
 * Damages the copies for one device in the number's next messages; in groups the ciphertext for all.
 *
 * @param times how many of them, 1 by default
 */
export function damageNextFor({ sim }: World, device: string, times = 1): void {
  let left = times;
  const { server } = sim as LibrarySimulator;
  /** Messages name a device by its number or by its LID. */
  const isMeant = (jid: string | undefined): boolean =>
    jid === device ||
    (jid !== undefined && server.world.device(jid) === (server.world.device(device) ?? null));
  server.hooks.received.push((connection, node) => {
    if (left === 0 || node.tag !== "message" || connection.device?.label !== `${SHOP}:1`) return false;
    const enc = ciphertextFor(node, isMeant);
    if (enc === undefined) return false;
    left--;
    const content = enc.content as Uint8Array;
    // Ten from the end is MAC or ciphertext; what stands last in a pre-key message are numbers.
    content[content.length - 10]! ^= 1;
    return false;
  });
}

function ciphertextFor(
  node: BinaryNode,
  isMeant: (jid: string | undefined) => boolean,
): BinaryNode | undefined {
  const direct = children(node).find(({ tag }) => tag === "enc");
  if (direct && (isMeant(node.attrs.to) || direct.attrs.type === "skmsg")) return direct;
  const copies = children(node).flatMap((part) => children(part, "to"));
  return children(copies.find(({ attrs }) => isMeant(attrs.jid))).find(({ tag }) => tag === "enc");
}

/** The contact has written, and the gateway has dealt with it: what is sent there now is a reply. */
export async function writeFirst(world: World, contacts: string[]): Promise<void> {
  for (const contact of contacts) await world.sim.sendText(contact, SHOP, "hello");
  await until(async () => (await world.sim.pending(SHOP)) === 0, 60_000);
  const { body } = await world.gateway.get("/devices", { key: world.key });
  expect(body["status"]).toBe(true);
}
