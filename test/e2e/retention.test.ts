import { createClient } from "@libsql/client";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const DAY = 86_400_000;

/** Columns that say when something was. */
const TIMES = {
  inbox: "received_at",
  decisions: "at",
  deliveries: "created_at",
  outbox: "created_at",
  media_files: "created_at",
};

it("forgets at its start what is older than RETENTION_DAYS, files included, and keeps what waits", async () => {
  const world = await openWorld({ env: { RETENTION_DAYS: "10" } });
  const { sim, gateway, key } = world;
  const receiver = await startReceiver({ message: "Thank you." });
  await world.link(SHOP);
  await sim.addContact(ANA, { name: "Ana" });
  await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });
  const picture = { kind: "image", bytes: Buffer.alloc(2000, 7) } as const;
  await sim.send(ANA, SHOP, picture);
  const { id } = await sim.waitForMessage(ANA, { from: SHOP, text: "Thank you." });
  receiver.status = 503;
  await sim.sendText(ANA, SHOP, "Nobody listens now");
  await until(() => receiver.events.length === 2);
  const deliveries = async () => (await gateway.get("/deliveries", { key })).body;
  await until(async () => (await deliveries()).data[0].state === "retrying");
  const [image] = receiver.events;
  expect((await gateway.get(`/messages/${id}`, { key })).status).toBe(200);

  await gateway.stop();
  const incoming = join(gateway.dataDir, "media", "in");
  const files = readdirSync(incoming);
  expect(files).toHaveLength(1);
  const temporary = join(gateway.dataDir, "tmp", "left-over");
  mkdirSync(temporary, { recursive: true });
  writeFileSync(join(temporary, "clear.bin"), "x");
  await age(gateway.databaseUrl, 11 * DAY);
  for (const path of [join(incoming, files[0]!), temporary]) utimesSync(path, 1_000_000, 1_000_000);
  await gateway.restart();

  await until(async () => (await gateway.get(`/messages/${id}`, { key })).status === 404);
  await until(() => !existsSync(join(incoming, files[0]!)) && !existsSync(temporary));
  const { total, data } = await deliveries();
  expect(total).toBe(1);
  expect(data[0]).toMatchObject({ state: "retrying", type: "text" });
  expect((await gateway.get(new URL(image!.body.media.url).pathname)).status).toBe(404);
  expect(await count(gateway.databaseUrl, "select count(*) from outbox_history")).toBe(0);
  // Those of the one that waits, which goes on being tried.
  const attempts = "select count(*) from delivery_attempts where delivery_id";
  const waiting = "(select id from deliveries)";
  expect(await count(gateway.databaseUrl, `${attempts} not in ${waiting}`)).toBe(0);
  expect(await count(gateway.databaseUrl, `${attempts} in ${waiting}`)).toBeGreaterThan(0);
  // The message whose delivery waits; its decision is a record like others.
  expect(await count(gateway.databaseUrl, "select count(*) from inbox")).toBe(1);
  expect(await count(gateway.databaseUrl, "select count(*) from decisions")).toBe(0);

  await sim.waitOnline(SHOP);
  receiver.status = 200;
  const { id: later } = await sim.sendText(ANA, SHOP, "Hello again");
  await until(() => receiver.events.some(({ body }) => body.id === later));
});

/** Makes everything in the database older; the gateway is not running. */
async function age(url: string, ms: number): Promise<void> {
  const database = createClient({ url });
  for (const [table, column] of Object.entries(TIMES))
    await database.execute({ sql: `update ${table} set ${column} = ${column} - ?`, args: [ms] });
  database.close();
}

async function count(url: string, sql: string): Promise<number> {
  const database = createClient({ url });
  try {
    return Number(Object.values((await database.execute(sql)).rows[0]!)[0]);
  } finally {
    database.close();
  }
}
