import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

it("keeps texts, keys, secrets and private keys out of database, WAL, cache, backup and output", async () => {
  const world = await openWorld({ env: { LOG_LEVEL: "trace" } });
  const receiver = await startReceiver({ message: "reply-text-3d41c2" });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  const headers = { "x-receiver-key": "header-secret-77aa01" };
  const put = await world.gateway.put(
    `/devices/${SHOP}/webhook`,
    { url: `${receiver.url}?auth=query-secret-0c44d1`, headers },
    { key: world.key },
  );
  const config = { crmUrl: "http://127.0.0.1:9/leads?auth=crm-query-51ad70", crmToken: "crm-token-e1f9a3" };
  const bots = { bots: [{ id: "lead-form", enabled: true, config }] };
  const bound = await world.gateway.put(`/devices/${SHOP}/bots`, bots, { key: world.key });
  expect(bound.status).toBe(200);
  await world.sim.sendText(ANA, SHOP, "incoming-text-9b07fe");
  await world.sim.waitForMessage(ANA, { text: "reply-text-3d41c2" });
  const query = `api_key=${world.key}&sender=${SHOP}&number=${ANA}&message=outgoing-text-51d0aa`;
  await world.gateway.get(`/send-message?${query}`);
  await world.sim.waitForMessage(ANA, { text: "outgoing-text-51d0aa" });
  // A contact with a new session to us: libsignal closes the old one and would print it.
  await world.gateway.restart();
  await world.online(SHOP);
  await world.sim.sendText(ANA, SHOP, "incoming-text-9b07fe again");
  await until(async () => (await world.sim.messages(ANA, { from: SHOP })).length === 3);

  // Set aside by a file that has its name a moment later.
  const isPassing = (name: string): boolean => name.endsWith(".new");
  const files = readdirSync(world.gateway.dataDir, { recursive: true, withFileTypes: true }).filter(
    (entry) =>
      entry.isFile() && !["admin-token", "master-key"].includes(entry.name) && !isPassing(entry.name),
  );
  expect(files.length).toBeGreaterThan(0);
  const backup = await fetch(`${world.gateway.url}/admin/backup`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.gateway.adminToken}` },
  });
  expect(backup.status).toBe(200);
  const everything = [
    { where: "backup", bytes: Buffer.from(await backup.arrayBuffer()) },
    ...files.map(({ parentPath, name }) => ({ where: name, bytes: readFileSync(join(parentPath, name)) })),
    { where: "output", bytes: Buffer.from(world.gateway.output()) },
  ];
  const secret = put.body.secret as string;
  const adminToken = world.gateway.adminToken;
  const canaries = [
    "incoming-text-9b07fe",
    "reply-text-3d41c2",
    "outgoing-text-51d0aa",
    "header-secret-77aa01",
    "query-secret-0c44d1",
    "crm-query-51ad70",
    "crm-token-e1f9a3",
    world.key,
    secret,
    secret.replace("whsec_", ""),
    adminToken,
    "privKey",
    "private",
    "rootKey",
    "currentRatchet",
    "advSecretKey",
    "noiseKey",
  ];
  const found = everything.flatMap(({ where, bytes }) =>
    canaries.filter((canary) => bytes.includes(canary)).map((canary) => `${where}: ${canary}`),
  );
  expect(found).toEqual([]);
  // The search itself can find: these are stored in the clear on purpose.
  expect(everything.some(({ bytes }) => bytes.includes(SHOP))).toBe(true);
});
