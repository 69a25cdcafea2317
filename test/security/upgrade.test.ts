import { cpSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { startSimulator } from "../../src/simulator/index.ts";
import { adoptCompanion, type LibrarySimulator } from "../../src/simulator/inside.ts";
import { removeFolder } from "../_setup/folders.ts";
import type { UpgradeFacts } from "../fixtures/upgrade/facts.ts";
import { startGateway } from "../_setup/gateway.ts";
import { until } from "../_setup/world.ts";

/** Data folders of earlier versions, made by `test/fixtures/upgrade/make.ts`. */
const fixtures = fileURLToPath(new URL("../fixtures/upgrade/", import.meta.url));
const versions = readdirSync(fixtures, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

async function openUpgraded(version: string) {
  const facts = JSON.parse(readFileSync(join(fixtures, version, "facts.json"), "utf8")) as UpgradeFacts;
  const sim = (await startSimulator({ seed: facts.seed })) as LibrarySimulator;
  onTestFinished(() => sim.stop());
  await sim.addNumber(facts.number, { name: "Shop" });
  adoptCompanion(sim.server, facts.number, facts.companion);
  const dataDir = mkdtempSync(join(tmpdir(), "parley-upgraded-"));
  onTestFinished(() => removeFolder(dataDir));
  cpSync(join(fixtures, version), dataDir, { recursive: true });
  const gateway = await startGateway({
    dataDir,
    env: {
      PARLEY_MASTER_KEY: facts.masterKey,
      PARLEY_ADMIN_TOKEN: facts.adminToken,
      WHATSAPP_WS_URL: sim.wsUrl,
      WHATSAPP_NOISE_ROOT: sim.noiseRoot,
      ALLOW_PRIVATE_NETWORK: "1",
    },
  });
  onTestFinished(() => gateway.dispose());
  return { facts, sim, gateway };
}

describe("a data folder of an earlier version", () => {
  it("is there", () => {
    expect(versions).toContain("0.1");
  });

  it.each(versions)("%s: the number comes online without linking anew, and answers", async (version) => {
    const { facts, sim, gateway } = await openUpgraded(version);
    const { number } = facts;
    const options = { key: facts.apiKey };

    await sim.waitOnline(number, 30_000);
    const state = async () => (await gateway.get(`/devices/${number}`, options)).body["data"].state;
    await until(async () => (await state()) === "connected");
    const person = await sim.addContact("4915100000078", { name: "Ben" });
    await person.sendText(number, "ping");

    expect(await person.waitForMessage({ from: number }, 30_000)).toMatchObject({ text: "pong" });
    const message = { sender: number, number: person.number, message: "after the upgrade" };
    expect((await gateway.post("/send-message", message, options)).body).toMatchObject({ state: "sent" });
    await person.waitForMessage({ text: "after the upgrade" });
    expect(await sim.companions(number)).toHaveLength(1);
    // This simulator's phone of the owner has not got the sessions of the other's, and asks once more.
    const found = await sim.violations();
    expect(found.filter(({ who, rule }) => who !== `${number}:0` || rule !== "undecryptable")).toEqual([]);
  });

  it.each(versions)("%s: keys, settings and records are what they were", async (version) => {
    const { facts, gateway } = await openUpgraded(version);
    const options = { key: facts.apiKey };

    expect((await gateway.get("/account", options)).body["data"]).toMatchObject({
      id: facts.account,
      name: "Upgrade",
    });
    const webhook = await gateway.get(`/devices/${facts.number}/webhook`, options);
    expect(webhook.body["data"]).toMatchObject(facts.webhook);
    const bots = await gateway.get(`/devices/${facts.number}/bots`, options);
    expect(bots.body["data"]).toContainEqual(expect.objectContaining({ id: "ping", enabled: true }));
    const sent = await gateway.get(`/messages/${facts.sent}`, options);
    expect(sent.body["data"]).toMatchObject({ number: facts.contact, kind: "text", state: "delivered" });
    expect((await gateway.get("/admin/accounts", { key: facts.adminToken })).body).toMatchObject({
      total: 1,
    });
  });

  it.each(versions)("%s: a person who has written before is answered in the same chat", async (version) => {
    const { facts, sim, gateway } = await openUpgraded(version);
    const person = await sim.addContact(facts.contact, { name: "Ana" });
    await sim.waitOnline(facts.number, 30_000);

    // The gateway still has its session with the phone, which has lost it and asks for the message anew.
    const message = { sender: facts.number, number: facts.contact, message: "still here" };
    const sent = await gateway.post("/send-message", message, { key: facts.apiKey });

    expect(sent.body).toMatchObject({ status: true });
    expect(await person.waitForMessage({ id: sent.body["id"] }, 30_000)).toMatchObject({
      text: "still here",
    });
  });
});
