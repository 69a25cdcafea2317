import { readdirSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { expect, it } from "vitest";
import { command, runCommand } from "../_setup/command.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const OTHER_SHOP = "31600000003";
const ANA = "4915100000001";
const BEN = "4915100000002";

/** Both write, get an answer, and are written to. */
async function talk(world: World, shop: string): Promise<string[]> {
  const { gateway, sim, key } = world;
  await world.bindBots(shop, "ping");
  const ids: string[] = [];
  for (const contact of [ANA, BEN]) {
    await sim.sendText(contact, shop, "ping");
    await sim.waitForMessage(contact, { from: shop, text: "pong" });
    await sim.sendText(contact, shop, `the secret of ${contact}`);
    const plain = { width: 8, height: 8, channels: 3 as const, background: "#fa0" };
    const bytes = await sharp({ create: plain }).jpeg().toBuffer();
    await sim.send(contact, shop, { kind: "image", bytes, caption: "a picture" });
    const sent = await gateway.post(
      "/send-message",
      { sender: shop, number: contact, message: "an offer" },
      { key },
    );
    expect(sent.status).toBe(200);
    ids.push(sent.body["id"] as string);
  }
  return ids;
}

/** Which rows there are; what is in them changes with late receipts. */
const tablesIn = (dump: string): string[] =>
  dump
    .trim()
    .split("\n")
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { table: string }).table);

it("a contact's data are exported and erased, nobody else's are, and the log of changes keeps a receipt", async () => {
  const hook = await startReceiver();
  const world = await openWorld();
  const { gateway, sim, key } = world;
  await gateway.patch(`/admin/accounts/${world.account}`, { plan: "pro" }, { key: gateway.adminToken });
  await world.link(SHOP);
  await world.link(OTHER_SHOP);
  const ana = await sim.addContact(ANA);
  await sim.addContact(BEN);
  const ids: string[][] = [];
  for (const shop of [SHOP, OTHER_SHOP]) {
    await gateway.put(`/devices/${shop}/webhook`, { url: hook.url, mode: "always" }, { key });
    ids.push(await talk(world, shop));
  }
  await until(() => hook.events.length >= 12);
  const files = (): string[] => readdirSync(join(gateway.dataDir, "media/in")).toSorted();
  await until(() => files().length === 4);
  const before = files();
  const asked = { env: gateway.operatorEnv };
  const dump = async (shop: string, contact: string): Promise<string> =>
    command(asked, "contacts", "export", shop, contact);

  const anas = await dump(SHOP, ANA);
  const tables = new Set(tablesIn(anas));
  expect([...tables].toSorted()).toEqual(
    expect.arrayContaining(["chat_state", "decisions", "deliveries", "inbox", "outbox"]),
  );
  expect(anas).toContain(`the secret of ${ANA}`);
  expect(anas).toContain("an offer");
  expect(anas).not.toContain(BEN);
  const bens = await dump(SHOP, BEN);
  const elsewhere = await dump(OTHER_SHOP, ANA);
  const json = JSON.parse(await command(asked, "contacts", "export", SHOP, ANA, "--json")) as unknown[];
  expect(json).toHaveLength(anas.trim().split("\n").length);

  const unsure = await runCommand(asked, "contacts", "erase", SHOP, ANA);
  expect(unsure.code).toBe(1);
  expect(unsure.text).toContain("--yes");
  expect(tablesIn(await dump(SHOP, ANA))).toEqual(tablesIn(anas));

  expect(await command(asked, "contacts", "erase", SHOP, ANA, "--yes")).toMatch(
    /Erased of 4915100000001 at .*\d in inbox/,
  );
  expect(await dump(SHOP, ANA)).toBe("");
  const rows = anas.split("\n").filter(Boolean);
  const ownFile = rows
    .map((line) => JSON.parse(line) as { table: string; type: string; id: number; device_id: number })
    .find(({ table, type }) => table === "inbox" && type === "image")!;
  expect(files()).toEqual(before.filter((name) => name !== `${ownFile.device_id}-${ownFile.id}`));
  expect(files()).toHaveLength(3);
  expect(tablesIn(await dump(SHOP, BEN))).toEqual(tablesIn(bens));
  expect(tablesIn(await dump(OTHER_SHOP, ANA))).toEqual(tablesIn(elsewhere));
  const messages = await gateway.get(`/messages?sender=${SHOP}&chat=${ANA}`, { key });
  expect(messages.body["data"]).toEqual([]);
  const log = await gateway.get("/admin/log", { key: gateway.adminToken });
  expect(log.body["data"][0]).toMatchObject({
    what: "eraseContact",
    target: ANA,
    who: { kind: "operator" },
  });

  // Her receipt for what was erased is no sign that somebody else sends under the number.
  await ana.markRead(ids[0]![0]!);
  // Who was erased may write again, and is answered.
  await sim.sendText(ANA, SHOP, "ping");
  await until(async () => (await sim.messages(ANA)).filter(({ text }) => text === "pong").length === 3);
  const audit = await gateway.get(`/devices/${SHOP}/audit`, { key });
  expect(audit.body["data"]).toMatchObject({ lost: 0, missing: [] });
  const admin = { key: gateway.adminToken };
  for (const path of [
    `${world.account}/devices/31600000009/contacts/${ANA}`,
    `nobody/devices/${SHOP}/contacts/${ANA}`,
  ])
    expect((await gateway.get(`/admin/accounts/${path}`, admin)).status).toBe(404);
  const group = `/admin/accounts/${world.account}/devices/${SHOP}/contacts/${encodeURIComponent("123456789012345678@g.us")}`;
  expect((await gateway.delete(group, admin)).status).toBe(404);
});
