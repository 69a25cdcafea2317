import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { loadConfig } from "../../src/config.ts";
import { createLogger } from "../../src/log.ts";
import { openStore } from "../../src/store/open.ts";
import { command } from "../_setup/command.ts";
import { removeFolder } from "../_setup/folders.ts";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";
import { rawRows } from "../unit/store/rows.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const NEWCOMER = "4915100000003";
const WAIT_MS = 60_000;

interface Shop {
  world: World;
  receiver: Receiver;
  /** Id of a group of Ana, Ben and the shop. */
  group: string;
  folder: string;
  parley(...args: string[]): Promise<string>;
}

/** A number that answers everything by webhook: `re: ` and the text. */
async function openShop(): Promise<Shop> {
  const world = await openWorld();
  const receiver = await startReceiver(({ body }) => ({ message: `re: ${body.message}` }));
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key: world.key });
  const { id: group } = await world.sim.addGroup({
    subject: "Club",
    creator: ANA,
    members: [ANA, BEN, SHOP],
  });
  const folder = mkdtempSync(join(tmpdir(), "parley-backup-"));
  onTestFinished(() => removeFolder(folder));
  const env = { PORT: String(world.gateway.port), DATA_DIR: world.gateway.dataDir };
  return { world, receiver, group, folder, parley: (...args) => command({ env }, ...args) };
}

async function send({ gateway, key }: World, number: string, message: string): Promise<Record<string, any>> {
  return (await gateway.post("/send-message", { sender: SHOP, number, message }, { key })).body;
}

/** Somebody writes, and the shop's answer arrives. */
async function converse({ world }: Shop, person: string, text: string, chat = SHOP): Promise<void> {
  await world.sim.sendText(person, chat, text);
  await world.sim.waitForMessage(person, { text: `re: ${text}` }, WAIT_MS);
}

async function restore({ world, parley }: Shop, file: string): Promise<string> {
  await world.gateway.kill();
  const said = await parley("restore", file, "--force");
  await world.gateway.restart();
  await world.online(SHOP, WAIT_MS);
  return said;
}

const times = async ({ world }: Shop, person: string, text: string): Promise<number> =>
  (await world.sim.messages(person, { from: SHOP })).filter((message) => message.text === text).length;

it(
  "a number whose data is put back to an earlier time stays linked, reads and is read, in chats and groups",
  { timeout: 300_000 },
  async () => {
    const shop = await openShop();
    const { world, group } = shop;
    await converse(shop, ANA, "hello");
    await converse(shop, BEN, "in the group", group);
    const file = join(shop.folder, "parley.tar");
    expect(await shop.parley("backup", file)).toContain("The file does not contain the master key");

    // Sessions and sender keys move on, and ids are given to what the copy does not know.
    for (const round of [1, 2, 3]) {
      await converse(shop, ANA, `later ${round}`);
      await converse(shop, BEN, `later in the group ${round}`, group);
      expect(await send(world, group, `news ${round}`)).toMatchObject({ state: "sent" });
      await world.sim.waitForMessage(ANA, { text: `news ${round}` }, WAIT_MS);
    }
    const said = await restore(shop, file);

    expect(said).toContain("Numbers that stay linked: 1.");
    expect(await world.sim.companions(SHOP)).toHaveLength(1);
    // On the sessions that only the phones have.
    await converse(shop, ANA, "are you still there?");
    await converse(shop, BEN, "and here?", group);
    expect(await send(world, ANA, "we are")).toMatchObject({ state: "sent" });
    await world.sim.waitForMessage(ANA, { text: "we are" }, WAIT_MS);
    expect(await send(world, group, "all of us")).toMatchObject({ state: "sent" });
    for (const member of [ANA, BEN]) await world.sim.waitForMessage(member, { text: "all of us" }, WAIT_MS);
    await world.sim.addContact(NEWCOMER, { name: "Cem" });
    await converse(shop, NEWCOMER, "first time here");

    await world.sim.settle(WAIT_MS);
    expect(await times(shop, ANA, "re: are you still there?")).toBe(1);
    expect(await times(shop, BEN, "re: and here?")).toBe(1);
    const asked = shop.receiver.events.filter(({ body }) => body.message === "are you still there?");
    expect(asked).toHaveLength(1);
  },
);

it(
  "what waited in the copy and has left since goes out once more under the same id, and is read once",
  { timeout: 300_000 },
  async () => {
    const shop = await openShop();
    const { world } = shop;
    // Neither the service nor the phone says that it arrived.
    await world.sim.faults.holdAcks({ number: SHOP });
    await world.sim.faults.holdDeliveries({ number: SHOP });
    const waiting = send(world, ANA, "your parcel is here");
    await world.sim.waitForMessage(ANA, { text: "your parcel is here" }, WAIT_MS);
    const file = join(shop.folder, "parley.tar");
    await shop.parley("backup", file);
    await world.sim.faults.releaseDeliveries({ number: SHOP });
    await world.sim.faults.releaseAcks({ number: SHOP });
    const { id } = await waiting;
    const state = async (): Promise<string> =>
      (await world.gateway.get(`/messages/${id}`, { key: world.key })).body["data"].state;
    // And the service knows that the gateway knows: it will not tell it again.
    await until(async () => (await state()) === "delivered", WAIT_MS);
    await world.sim.settle(WAIT_MS);

    const said = await restore(shop, file);

    expect(said).toContain("1 message from the backup will be sent again");
    const sent = { number: SHOP, device: 1, direction: "in", tag: "message", id } as const;
    await until(async () => (await world.sim.countStanzas(sent)) === 2, WAIT_MS);
    await until(async () => (await state()) === "delivered", WAIT_MS);
    await world.sim.settle(WAIT_MS);
    expect(await times(shop, ANA, "your parcel is here")).toBe(1);
  },
);

it(
  "copies that are made while messages come in fast cost none of them, are whole, and open",
  { timeout: 400_000 },
  async () => {
    const shop = await openShop();
    const { world } = shop;
    const people = await world.sim.addContacts(12, { prefix: "49152000" });
    const texts = Array.from({ length: 12 }, (_, index) => `message ${index}`);
    const files: { path: string; answersBefore: number }[] = [];
    const countAnswers = async (): Promise<number> => {
      const lists = await Promise.all(people.map((person) => world.sim.messages(person, { from: SHOP })));
      return lists.flat().length;
    };
    const answered = new Set<string>();
    const copying = (async () => {
      while (answered.size < people.length || files.length < 2) {
        const path = join(shop.folder, `${files.length}.tar`);
        const answersBefore = await countAnswers();
        await shop.parley("backup", path);
        files.push({ path, answersBefore });
      }
    })();

    await Promise.all(
      people.map(async (person) => {
        for (const text of texts) await world.sim.sendText(person, SHOP, text);
        await world.sim.waitForMessage(person, { text: `re: ${texts.at(-1)!}` }, 180_000);
        answered.add(person);
      }),
    );
    await copying;
    await world.sim.settle(WAIT_MS);
    const path = join(shop.folder, "last.tar");
    files.push({ path, answersBefore: await countAnswers() });
    await shop.parley("backup", path);

    for (const person of people) {
      const answers = await world.sim.messages(person, { from: SHOP });
      expect(answers.map(({ text }) => text)).toEqual(texts.map((text) => `re: ${text}`));
    }
    const key = readFileSync(join(world.gateway.dataDir, "master-key"), "utf8").trim();
    expect(files.at(-1)!.answersBefore).toBe(people.length * texts.length);
    for (const [index, file] of files.entries()) await checkCopy(shop, { ...file, key, name: `${index}` });
    expect(readdirSync(join(world.gateway.dataDir, "backup"))).toEqual([]);
  },
);

interface Copy {
  path: string;
  /** Answers that people had before it was asked for. */
  answersBefore: number;
  key: string;
  /** Of the folder for it. */
  name: string;
}

/** Restored elsewhere: it has all that was done before, every answer belongs to a message that is done, and everything opens. */
async function checkCopy(shop: Shop, { path, answersBefore, key, name }: Copy): Promise<void> {
  const env = { DATA_DIR: join(shop.folder, name), PARLEY_MASTER_KEY: key, LOG_LEVEL: "silent" };
  await command({ env }, "restore", path);
  const config = loadConfig({ ...env, STORE_THREAD: "off" });
  const store = await openStore(config, createLogger(config));
  try {
    expect((await rawRows(store, "PRAGMA integrity_check", []))[0]![0]).toBe("ok");
    const torn = await rawRows(
      store,
      `SELECT o.id FROM outbox o LEFT JOIN inbox i ON i.id = o.inbox_id
      WHERE o.origin = 'webhook' AND (i.id IS NULL OR i.state <> 'done')`,
      [],
    );
    expect(torn).toEqual([]);
    const [answers] = await rawRows(store, "SELECT count(*) AS n FROM outbox WHERE origin = 'webhook'", []);
    expect(Number(answers!.n)).toBeGreaterThanOrEqual(answersBefore);
    for (const { device_id: device, wa_id: id, body } of await rawRows(store, "SELECT * FROM inbox", []))
      expect(
        store.box.openJson(new Uint8Array(body as ArrayBuffer), `inbox:${Number(device)}:${String(id)}`),
      ).toHaveProperty("text");
  } finally {
    await store.close();
  }
}
