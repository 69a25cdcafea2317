import { expect, it } from "vitest";
import type { LibrarySimulator } from "../../src/simulator/simulator.ts";
import { type BinaryNode, children } from "../../src/simulator/wire/nodes.ts";
import { link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";

function encsOf(node: BinaryNode): BinaryNode[] {
  return children(node).flatMap((part) => (part.tag === "enc" ? [part] : encsOf(part)));
}

/** Damages one ciphertext of the next message of the number's companion: the one for this device. */
function damageFor(sim: LibrarySimulator, device: string): void {
  let isDone = false;
  sim.server.hooks.received.push((connection, node) => {
    if (isDone || node.tag !== "message" || connection.device?.label !== `${NUMBER}:1`) return false;
    isDone = true;
    const copies = children(node).flatMap((part) => children(part, "to"));
    const [enc] = encsOf(copies.find(({ attrs }) => attrs.jid === device)!);
    const content = enc!.content as Uint8Array;
    // Ten from the end is MAC or ciphertext; what stands last in a pre-key message are numbers.
    content[content.length - 10]! ^= 1;
    return false;
  });
}

it.each([
  ["the second device of a contact", `${CONTACT}:1@s.whatsapp.net`],
  ["the phone of a contact", `${CONTACT}@s.whatsapp.net`],
  ["the own phone", `${NUMBER}@s.whatsapp.net`],
])("has a companion send again what %s cannot read, and finds no fault with it", async (_, device) => {
  const sim = (await simulate()) as LibrarySimulator;
  await sim.addNumber(NUMBER);
  const contact = await sim.addContact(CONTACT, { devices: 2 });
  const client = await link(sim, NUMBER);
  await contact.sendText(NUMBER, "hello");
  await client.untilText("hello");
  damageFor(sim, device);

  const { id } = await client.say(contact.jid, "damaged for one");
  await sim.expectViolation("undecryptable");

  const [user, index] = device.split("@")[0]!.split(":");
  await until("resend", async () => {
    const entries = (await sim.transcript({ id })).filter((entry) => entry.direction !== "to_companion");
    const there = entries.filter((entry) => entry.to === user && entry.device === Number(index ?? 0));
    return there.length > 1 && there.some(({ decrypted, text }) => decrypted && text === "damaged for one");
  });
  await client.say(contact.jid, "after");
  expect(await contact.waitForMessage({ text: "after" })).toMatchObject({ ordinal: 1, from: NUMBER });
});
