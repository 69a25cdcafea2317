import { Curve } from "@whiskeysockets/baileys";
import { expect, it } from "vitest";
import { Device } from "../../src/simulator/server/device.ts";
import type { LibrarySimulator } from "../../src/simulator/simulator.ts";
import { Client, MemoryAuth, simulate, until } from "./_setup.ts";

const NUMBERS = 200;
const CONTACTS = 2000;
/** How many of the contacts write: nearly all the time goes into the clients' own decryption. */
const WRITERS = 400;
const PRE_KEYS = 30;

/** Puts a companion's credentials on both sides, as if it had been linked earlier: 200 pairings would take minutes. */
async function linkedEarlier(sim: LibrarySimulator, number: string): Promise<MemoryAuth> {
  const auth = new MemoryAuth();
  const { creds } = auth;
  const account = sim.server.world.account(number);
  const device = new Device(account, account.nextDevice++);
  device.noiseKey = Buffer.from(creds.noiseKey.public);
  device.identity = Buffer.from(creds.signedIdentityKey.public);
  device.registrationId = creds.registrationId;
  const { keyId: id, keyPair, signature } = creds.signedPreKey;
  device.signedPreKey = { id, publicKey: Buffer.from(keyPair.public), signature: Buffer.from(signature) };
  for (let preKeyId = 1; preKeyId <= PRE_KEYS; preKeyId += 1) {
    const pair = Curve.generateKeyPair();
    device.preKeys.set(preKeyId, Buffer.from(pair.public));
    await auth.state.keys.set({ "pre-key": { [preKeyId]: pair } });
  }
  creds.nextPreKeyId = creds.firstUnuploadedPreKeyId = PRE_KEYS + 1;
  creds.me = { id: device.pn, lid: device.lid };
  creds.accountSyncCounter = 1;
  device.listed = true;
  account.devices.set(device.id, device);
  return auth;
}

it(
  `serves ${NUMBERS} logged-in companions and ${CONTACTS} contacts in one process`,
  { timeout: 300_000 },
  async () => {
    const sim = (await simulate()) as LibrarySimulator;
    const numbers = Array.from({ length: NUMBERS }, (_, index) => `316000${String(index).padStart(5, "0")}`);
    for (const number of numbers) await sim.addNumber(number);
    const contacts = await sim.addContacts(CONTACTS, { prefix: "31700" });
    const clients: Client[] = [];
    for (const number of numbers) {
      const client = new Client(sim, {}, await linkedEarlier(sim, number));
      await client.untilOpen();
      clients.push(client);
    }
    for (const number of numbers) expect(await sim.online(number)).toBe(true);
    for (const [index, contact] of contacts.slice(-WRITERS).entries()) {
      await sim.sendText(contact, numbers[index % NUMBERS]!, `text ${index}`);
    }
    const perNumber = WRITERS / NUMBERS;
    await until("all texts", () => clients.every(({ texts }) => texts.length === perNumber), 150_000);
    for (const [index, { texts }] of clients.entries()) {
      expect(texts).toEqual(
        Array.from({ length: perNumber }, (_, round) => `text ${index + round * NUMBERS}`),
      );
    }
  },
);
