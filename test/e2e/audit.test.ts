import { createClient } from "@libsql/client";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { repositoryRoot } from "../../src/config.ts";
import { programFile } from "../_setup/program-file.ts";
import { closeWorld, keepWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
/** The owner writes to him by hand: bots pause in that chat. */
const CEM = "4915100000003";
const MINUTE = 60_000;
// Each restarts the gateway several times.
vi.setConfig({ testTimeout: 240_000 });

let world: World;
let group: string;

beforeAll(async () => {
  world = await keepWorld();
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  await world.sim.addContact(CEM, { name: "Cem" });
  ({ id: group } = await world.sim.addGroup({ subject: "Guests", members: [SHOP, ANA, BEN] }));
  await world.bindBots(SHOP, "ping");
});
afterAll(() => closeWorld(world));

async function audit(query = ""): Promise<Record<string, any>> {
  const { status, body } = await world.gateway.get(`/devices/${SHOP}/audit${query}`, { key: world.key });
  expect(status).toBe(200);
  return { ...body["data"], msg: body["msg"] };
}

async function change(sql: string): Promise<void> {
  const client = createClient({ url: world.gateway.databaseUrl });
  await client.execute(sql);
  client.close();
}

/** Stops the gateway, does something to its database, and starts it again. */
async function between(...sql: string[]): Promise<void> {
  await world.gateway.stop();
  for (const statement of sql) await change(statement);
  await world.gateway.restart();
  await world.online(SHOP, 60_000);
}

const idle = (): Promise<void> => until(async () => (await world.sim.pending(SHOP, 1)) === 0, 60_000);
/** The contact's message reached the inbox and got its answer: both sides have each other's keys. */
async function answered(contact: string): Promise<void> {
  const before = (await world.sim.messages(contact, { from: SHOP })).length;
  await world.sim.sendText(contact, SHOP, "ping");
  await until(async () => (await world.sim.messages(contact, { from: SHOP })).length > before, 60_000);
}

/** `npm run parley -- audit …` as an operator on the same machine calls it. */
async function parley(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [programFile("src/cli/main.ts"), "audit", ...args], {
    cwd: repositoryRoot(),
    env: world.gateway.operatorEnv,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(child, "close");
  return text;
}

describe("the loss audit", () => {
  beforeEach(async () => {
    await between("delete from missing_messages", "delete from connections", "delete from inbox");
  });

  it("says that nothing was lost where nothing was, whatever came and however", async () => {
    const { sim, gateway } = world;
    await answered(ANA);
    await answered(BEN);
    await gateway.kill();
    for (const text of ["one", "two", "three"]) await sim.sendText(ANA, group, text);
    const { id } = await sim.sendText(BEN, SHOP, "waits");
    await sim.edit(BEN, id, "waited");
    await sim.typeAsOwner(SHOP, CEM, "by hand");
    await gateway.restart();
    await world.online(SHOP, 60_000);
    await idle();
    await sim.faults.reencryptStanzas({ number: SHOP, n: 1 });
    await sim.faults.dropAfterReceipt({ number: SHOP });
    await sim.sendText(ANA, SHOP, "cut");
    await until(async () => (await audit()).connections.length > 2, 60_000);
    await world.online(SHOP, 60_000);
    await idle();

    await until(async () => (await audit()).received === 8, 60_000);
    const report = await audit();
    expect(report).toMatchObject({ lost: 0, awaited: 0, recovered: 0, missing: [], pending: 0 });
    expect(report.msg).toBe(`0 messages lost since ${report.since}.`);
    const [, afterKill, killed] = report.connections;
    expect(afterKill).toMatchObject({ announced: 6, arrived: 6 });
    expect(afterKill.closed_at).not.toBeNull();
    expect(killed).toMatchObject({ closed_at: null });
    expect(await parley(SHOP)).toContain("+31600000001: 0 messages lost since");
  });

  it("names exactly the messages that nobody could send again, first as asked for, then as lost", async () => {
    const { sim } = world;
    await answered(ANA);
    // Neither the contact nor the owner's phone answers.
    await sim.faults.holdDeliveries({ number: ANA, device: 0 });
    await sim.faults.placeholders({ number: SHOP, n: 1, phone: "silent" });
    const placeholder = await sim.sendText(ANA, SHOP, "never comes");
    await idle();
    await sim.faults.holdDeliveries({ number: SHOP, device: 0 });
    await between("delete from wa_keys where type = 'session'");
    const unreadable = await sim.sendText(ANA, SHOP, "cannot be read");
    await idle();

    const early = await audit();
    expect(early).toMatchObject({ lost: 0, awaited: 2, recovered: 0 });
    expect(early.msg).toMatch(
      /^0 messages lost since .*; 2 did not arrive or could not be read, and were requested again\.$/,
    );
    const both = [
      { id: placeholder.id, chat: ANA, from: ANA, reason: "unavailable" },
      { id: unreadable.id, chat: ANA, from: ANA, reason: "undecryptable" },
    ];
    expect(early.missing.toReversed()).toMatchObject(both.map((entry) => ({ ...entry, state: "asked" })));

    await between(`update missing_messages set noticed_at = noticed_at - ${11 * MINUTE}`);
    const late = await audit();
    expect(late).toMatchObject({ lost: 2, awaited: 0 });
    expect(late.msg).toMatch(/^2 messages lost since /);
    expect(late.missing.toReversed()).toMatchObject(both.map((entry) => ({ ...entry, state: "lost" })));
    const shown = await parley(SHOP);
    expect(shown).toContain("2 messages lost since");
    expect(shown).toMatch(new RegExp(`${unreadable.id}.*undecryptable.*lost`));

    // The contact's phone is online again: what it still can send is not lost any more.
    await sim.faults.releaseDeliveries({ number: ANA, device: 0 });
    await sim.faults.releaseDeliveries({ number: SHOP, device: 0 });
    await until(async () => (await audit()).recovered > 0, 60_000);
    expect(await audit()).toMatchObject({ lost: 1, recovered: 1 });
  });

  it("finds by WhatsApp's count what was announced and never delivered", async () => {
    const { sim, gateway } = world;
    await answered(ANA);
    await gateway.stop();
    await sim.sendText(ANA, SHOP, "ping");
    await sim.sendText(ANA, SHOP, "ping");
    // Announced on the first connection, and gone before the second. What is held back is not announced by itself.
    await sim.faults.holdDeliveries({ number: SHOP });
    await gateway.restart();
    await world.online(SHOP, 60_000);
    expect((await audit()).connections[0]).toMatchObject({ arrived: 0 });
    await gateway.stop();
    await sim.faults.releaseDeliveries({ number: SHOP });
    await change("update connections set announced = 5 where id = (select max(id) from connections)");
    await gateway.restart();
    await world.online(SHOP, 60_000);

    await until(async () => (await audit()).connections[0].arrived === 2, 60_000);
    expect(await audit()).toMatchObject({ lost: 3, awaited: 0, missing: [] });
  });

  it("asks for a permission, and for a time of which something is kept", async () => {
    const { gateway, key, account } = world;
    const ask = (query: string, by = key) => gateway.get(`/devices/${SHOP}/audit${query}`, { key: by });
    for (const since of ["yesterday", "2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z"]) {
      const { status, body } = await ask(`?since=${since}`);
      expect(status).toBe(400);
      expect(body["errors"].fields).toHaveProperty("since");
    }
    const since = new Date(Date.now() - 3_600_000).toISOString();
    expect((await ask(`?since=${since}`)).body["data"].since).toBe(since);
    const { body } = await gateway.post(
      `/admin/accounts/${account}/api-keys`,
      { name: "Sender", permissions: ["messages"] },
      { key: gateway.adminToken },
    );
    expect((await ask("", body["api_key"])).status).toBe(403);
    expect((await gateway.get("/devices/31600000999/audit", { key })).status).toBe(404);
  });
});
