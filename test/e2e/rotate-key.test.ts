import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { command, runCommand } from "../_setup/command.ts";
import { runGateway } from "../_setup/gateway.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const WAIT_MS = 60_000;
const NEW_KEY = Buffer.alloc(32, 9).toString("base64");

interface Shop {
  world: World;
  dataDir: string;
  key(): string;
}

async function openShop(env: Record<string, string> = {}): Promise<Shop> {
  const world = await openWorld({ env });
  const receiver = await startReceiver(({ body }) => ({ message: `re: ${body.message}` }));
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.gateway.put(
    `/devices/${SHOP}/webhook`,
    { url: receiver.url, headers: { "x-receiver": "secret of the receiver" } },
    { key: world.key },
  );
  const { dataDir } = world.gateway;
  return { world, dataDir, key: () => readFileSync(join(dataDir, "master-key"), "utf8").trim() };
}

/** The number is online without a QR, reads and is read; keys, settings and earlier messages are what they were. */
async function goesOn({ world }: Shop, text: string): Promise<void> {
  const { sim, gateway, key } = world;
  await world.online(SHOP, WAIT_MS);
  await sim.sendText(ANA, SHOP, text);
  await sim.waitForMessage(ANA, { text: `re: ${text}` }, WAIT_MS);
  const webhook = await gateway.get(`/devices/${SHOP}/webhook`, { key });
  expect(webhook.body["data"].headers).toEqual({ "x-receiver": "secret of the receiver" });
  const { body } = await gateway.get("/deliveries", { key });
  for (const { id } of body["data"])
    expect((await gateway.get(`/deliveries/${id}`, { key })).status).toBe(200);
  const answer = await sim.messages(ANA, { from: SHOP });
  expect(answer.filter((message) => message.text === `re: ${text}`)).toHaveLength(1);
}

it(
  "a data folder gets another master key, and everything goes on, wherever the change is killed",
  { timeout: 400_000 },
  async () => {
    const shop = await openShop();
    const { world, dataDir } = shop;
    await goesOn(shop, "before");
    const crashes = ["after-next-key", "while-rotating:5", "before-rotation-commit", "after-rotation-commit"];

    for (const crashAt of crashes) {
      await world.gateway.stop();
      const first = shop.key();
      const { signal } = await runCommand({ env: { DATA_DIR: dataDir }, crashAt }, "rotate-key");
      expect(signal).toBe("SIGKILL");
      await world.gateway.restart();
      await goesOn(shop, `after ${crashAt}`);
      expect(shop.key() === first).toBe(crashAt !== "after-rotation-commit");
      expect(readdirSync(dataDir)).not.toContain("master-key.next");
    }

    await world.gateway.stop();
    const second = shop.key();
    const said = await command({ env: { DATA_DIR: dataDir } }, "rotate-key");
    await world.gateway.restart();
    await goesOn(shop, "after all");
    expect(said).toMatch(/Sealed \d{2,} values with a new master key/);
    expect(shop.key()).not.toBe(second);
    // What was backed up before needs the old one.
    const kept = readdirSync(dataDir).filter((name) => name.startsWith("master-key.until-"));
    expect(kept.map((name) => readFileSync(join(dataDir, name), "utf8").trim())).toContain(second);
    expect(await world.sim.companions(SHOP)).toHaveLength(1);

    await world.gateway.stop();
    const env = { PARLEY_MASTER_KEY: second };
    const refused = await runGateway({ dataDir, env });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("The master key does not fit"),
    });
    await world.gateway.restart();
  },
);

it(
  "a key from the environment is changed to the one given beside it, and is told what to set",
  { timeout: 200_000 },
  async () => {
    const oldKey = Buffer.alloc(32, 7).toString("base64");
    const shop = await openShop({ PARLEY_MASTER_KEY: oldKey });
    const { world, dataDir } = shop;
    await goesOn(shop, "before");
    const given = { DATA_DIR: dataDir, PARLEY_MASTER_KEY: oldKey };

    const running = await runCommand({ env: { ...given, PARLEY_NEW_MASTER_KEY: NEW_KEY } }, "rotate-key");
    expect(running).toMatchObject({ code: 1, text: expect.stringContaining("is in use by another Parley") });
    await world.gateway.stop();
    const without = await runCommand({ env: given }, "rotate-key");
    expect(without).toMatchObject({
      code: 1,
      text: expect.stringContaining("set PARLEY_NEW_MASTER_KEY to the new one"),
    });
    const said = await command({ env: { ...given, PARLEY_NEW_MASTER_KEY: NEW_KEY } }, "rotate-key");

    expect(said).toContain("Now set PARLEY_MASTER_KEY to the value of PARLEY_NEW_MASTER_KEY");
    expect(readdirSync(dataDir).filter((name) => name.startsWith("master-key"))).toEqual([]);
    const again = await runCommand({ env: { ...given, PARLEY_NEW_MASTER_KEY: NEW_KEY } }, "rotate-key");
    expect(again).toMatchObject({ code: 1, text: expect.stringContaining("already opens with the new key") });
    await world.gateway.restart({ PARLEY_MASTER_KEY: NEW_KEY });
    await goesOn(shop, "after");
  },
);
