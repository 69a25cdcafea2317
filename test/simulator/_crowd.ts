import { Curve, initAuthCreds } from "@whiskeysockets/baileys";
import { Device } from "../../src/simulator/world/accounts.ts";
import type { LibrarySimulator } from "../../src/simulator/simulator.ts";
import { MemoryAuth } from "./_memory-auth.ts";
import { until } from "./_until.ts";
import { WireClient } from "./_wire-client.ts";

const PRE_KEYS = 30;

/** Public keys of a companion, the same for all that never decrypt anything: key pairs are what costs. */
interface CompanionKeys {
  creds: MemoryAuth["creds"];
  preKeys: [id: number, publicKey: Buffer][];
}

const sharedKeys: CompanionKeys = {
  creds: initAuthCreds(),
  preKeys: Array.from({ length: PRE_KEYS }, (_, index) => [
    index + 1,
    Buffer.from(Curve.generateKeyPair().public),
  ]),
};

/** Makes a companion known to the service, as if it had been linked earlier: hundreds of pairings would take minutes. */
function addCompanion(sim: LibrarySimulator, number: string, { creds, preKeys }: CompanionKeys): Device {
  const account = sim.server.world.account(number);
  const device = new Device(account, account.nextDevice++);
  device.noiseKey = Buffer.from(creds.noiseKey.public);
  device.identity = Buffer.from(creds.signedIdentityKey.public);
  device.registrationId = creds.registrationId;
  const { keyId: id, keyPair, signature } = creds.signedPreKey;
  device.signedPreKey = { id, publicKey: Buffer.from(keyPair.public), signature: Buffer.from(signature) };
  for (const [preKeyId, publicKey] of preKeys) device.preKeys.set(preKeyId, publicKey);
  device.listed = true;
  account.devices.set(device.id, device);
  return device;
}

/** Credentials of a companion that was linked earlier, for a whole client. */
export async function linkedEarlier(sim: LibrarySimulator, number: string): Promise<MemoryAuth> {
  const auth = new MemoryAuth();
  const { creds } = auth;
  const pairs = Array.from({ length: PRE_KEYS }, (_, index) => ({
    id: index + 1,
    pair: Curve.generateKeyPair(),
  }));
  await auth.state.keys.set({ "pre-key": Object.fromEntries(pairs.map(({ id, pair }) => [id, pair])) });
  const preKeys = pairs.map(({ id, pair }): [number, Buffer] => [id, Buffer.from(pair.public)]);
  const device = addCompanion(sim, number, { creds, preKeys });
  creds.nextPreKeyId = creds.firstUnuploadedPreKeyId = PRE_KEYS + 1;
  creds.me = { id: device.pn, lid: device.lid };
  creds.accountSyncCounter = 1;
  return auth;
}

/** Numbers with a companion each that is logged in over a WebSocket and confirms what it gets. */
export async function wireClients(sim: LibrarySimulator, numbers: string[]): Promise<WireClient[]> {
  const { public: publicKey, private: privateKey } = sharedKeys.creds.noiseKey;
  const noiseKey = { publicKey: Buffer.from(publicKey), privateKey: Buffer.from(privateKey) };
  const clients = numbers.map((number) => {
    const { id } = addCompanion(sim, number, sharedKeys);
    return new WireClient(sim.wsUrl, number, id, noiseKey);
  });
  await until("all logged in", () => clients.every(({ isOnline }) => isOnline), 120_000);
  return clients;
}

/** The numbers `prefix` + `00000`…, all of them added. */
export async function addNumbers(sim: LibrarySimulator, count: number, prefix: string): Promise<string[]> {
  const numbers = Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(5, "0")}`);
  for (const number of numbers) await sim.addNumber(number);
  return numbers;
}

/** What a crowd has cost so far. */
export interface Cost {
  numbers: number;
  contacts: number;
  writers: number;
  loginMs: number;
  writeMs: number;
  /** Megabytes of the whole process, clients included. */
  rssMb: number;
  heapMb: number;
}

/**
 * Numbers that are all logged in, and contacts who write to them in turn. Resolves when each text has arrived and was
 * confirmed, in order.
 *
 * @throws when one did not arrive, or came twice or out of order
 */
export async function runCrowd(
  sim: LibrarySimulator,
  {
    numbers: numberCount,
    contacts: contactCount,
    writers,
  }: { numbers: number; contacts: number; writers: number },
): Promise<Cost> {
  const numbers = await addNumbers(sim, numberCount, "316000");
  const contacts = await sim.addContacts(contactCount, { prefix: "31700" });
  let started = performance.now();
  const clients = await wireClients(sim, numbers);
  const loginMs = performance.now() - started;
  started = performance.now();
  const sent = numbers.map((): string[] => []);
  for (const [index, contact] of contacts.slice(-writers).entries()) {
    const to = index % numberCount;
    sent[to]!.push((await sim.sendText(contact, numbers[to]!, `text ${index}`)).id);
  }
  const isDone = (): boolean =>
    clients.every(({ received }, index) => received.length >= sent[index]!.length);
  await until("all texts", isDone, 300_000);
  await sim.settle(60_000);
  const writeMs = performance.now() - started;
  for (const [index, { received }] of clients.entries()) {
    if (received.join() !== sent[index]!.join())
      throw new Error(`${numbers[index]} did not get its texts once and in order`);
  }
  const { rss, heapUsed } = process.memoryUsage();
  const [rssMb, heapMb] = [rss, heapUsed].map((bytes) => Math.round(bytes / 1e6)) as [number, number];
  for (const number of numbers) if (!(await sim.online(number))) throw new Error(`${number} is not online`);
  for (const client of clients) client.end();
  return { numbers: numberCount, contacts: contactCount, writers, loginMs, writeMs, rssMb, heapMb };
}
