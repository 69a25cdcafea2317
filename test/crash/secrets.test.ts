import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";
import { pdf } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const OTHER = "31600000002";
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
  expect(await found(world, canaries)).toEqual([]);
  // The search itself can find: these are stored in the clear on purpose.
  expect(await found(world, [SHOP])).not.toEqual([]);
});

it("keeps what waits, what changes a message, files, listeners and proxies out of them as well", async () => {
  const world = await openWorld({ env: { LOG_LEVEL: "trace" } });
  const { gateway, sim, key } = world;
  await world.link(SHOP);
  await sim.addContact(ANA, { name: "Ana" });
  const to = { sender: SHOP, number: ANA };
  const ask = async (
    method: "post" | "patch" | "put",
    path: string,
    body: object,
  ): Promise<Record<string, any>> => {
    const answer = await gateway[method](path, body, { key });
    expect(answer.status, `${path}: ${answer.text}`).toBeLessThan(300);
    return answer.body;
  };
  const sent = await ask("post", "/send-message", { ...to, message: "first-text-6a11d0" });
  await ask("patch", `/messages/${sent["id"]}`, { sender: SHOP, message: "edited-text-6a11d1" });
  const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;
  const later = { ...to, send_at: inAnHour };
  await ask("post", "/send-message", { ...later, message: "later-text-6a11d2" });
  await ask("post", "/send-location", { ...later, latitude: 1, longitude: 2, name: "place-6a11d3" });
  await ask("post", "/send-contact", {
    ...later,
    contacts: [{ name: "card-6a11d4", numbers: ["491510006114"] }],
  });
  await ask("post", "/send-poll", {
    ...later,
    name: "question-6a11d5",
    option: ["one-6a11d6", "two-6a11d7"],
    countable: "1",
  });
  const data = Buffer.concat([pdf(), Buffer.from("bytes-6a11d8")]).toString("base64");
  const file = { media_type: "document", data, filename: "name-6a11d9.pdf", caption: "caption-6a11da" };
  await ask("post", "/send-media", { ...later, ...file });
  await ask("post", "/send-media", { ...to, ...file });
  const listener = {
    url: "http://127.0.0.1:9/?auth=listener-query-6a11db",
    headers: { "x-key": "listener-key-6a11dc" },
  };
  const { secret } = await ask("post", `/devices/${SHOP}/webhooks`, { ...listener, events: ["message"] });
  await ask("post", "/devices", { device: OTHER });
  const proxy = "http://someone:proxy-password-6a11dd@127.0.0.1:9";
  await ask("patch", `/devices/${OTHER}`, { proxy });
  await sim.sendText(ANA, SHOP, "asked-6a11de");
  await until(
    async () => (await gateway.get(`/messages?sender=${SHOP}&direction=in`, { key })).body["data"].length > 0,
  );
  await gateway.restart();
  await world.online(SHOP);
  const canaries = Array.from({ length: 15 }, (_, n) => `6a11d${n.toString(16)}`);
  expect(await found(world, [...canaries, "491510006114", secret, secret.replace("whsec_", "")])).toEqual([]);
});

/** Where which of these stand in what the gateway has written, backs up and has printed. */
async function found({ gateway }: World, canaries: readonly string[]): Promise<string[]> {
  // Set aside by a file that has its name a moment later.
  const isPassing = (name: string): boolean => name.endsWith(".new");
  const files = readdirSync(gateway.dataDir, { recursive: true, withFileTypes: true }).filter(
    (entry) =>
      entry.isFile() && !["admin-token", "master-key"].includes(entry.name) && !isPassing(entry.name),
  );
  expect(files.length).toBeGreaterThan(0);
  const backup = await fetch(`${gateway.url}/admin/backup`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.adminToken}` },
  });
  expect(backup.status).toBe(200);
  const everything = [
    { where: "backup", bytes: Buffer.from(await backup.arrayBuffer()) },
    ...files.map(({ parentPath, name }) => ({ where: name, bytes: readFileSync(join(parentPath, name)) })),
    { where: "output", bytes: Buffer.from(gateway.output()) },
  ];
  return everything.flatMap(({ where, bytes }) =>
    canaries.filter((canary) => bytes.includes(canary)).map((canary) => `${where}: ${canary}`),
  );
}
