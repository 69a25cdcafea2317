import { createClient } from "@libsql/client";
import { expect, it } from "vitest";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

async function openShop(options: Parameters<typeof openWorld>[0]): Promise<World> {
  const world = await openWorld(options);
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  return world;
}

const say = async ({ gateway, key }: World, message: string): Promise<string> => {
  const sent = await gateway.post("/send-message", { sender: SHOP, number: ANA, message }, { key });
  return sent.body.results[0].id;
};
const edit = ({ gateway, key }: World, id: string) =>
  gateway.patch(`/messages/${id}`, { message: "Changed" }, { key });
const remove = ({ gateway, key }: World, id: string) => gateway.delete(`/messages/${id}`, { key });
const record = async ({ gateway, key }: World, id: string) =>
  (await gateway.get(`/messages/${id}`, { key })).body.data;
const delivered = (world: World, id: string) =>
  until(async () => (await record(world, id)).state === "delivered");

const TOO_LATE = { status: 409, body: { status: false, errors: { code: "TOO_LATE" } } };

/** Options of somebody who wrote so long ago, by WhatsApp's timestamp. */
const ago = (ms: number) => ({ timestamp: Math.floor((Date.now() - ms) / 1_000) });

/** What the number has asked WhatsApp to change or take away: how, and of which message of its own. */
const changes = async ({ sim }: World): Promise<string[]> => {
  const stanzas = await sim.stanzas({ number: SHOP, tag: "message", direction: "in" });
  return stanzas.flatMap(({ attrs }) => attrs["edit"] ?? []);
};

it("what was typed on the phone can be edited for 15 minutes and taken back for 48 hours, by its timestamp", async () => {
  const world = await openShop({ again: true });
  const { sim } = world;
  const typed = async (ms: number): Promise<string> => {
    const { id } = await sim.typeAsOwner(SHOP, ANA, "By hand", ago(ms));
    await until(async () => (await record(world, id)) !== undefined);
    return id;
  };
  const late = await typed(16 * MINUTE_MS);
  expect(await edit(world, late)).toMatchObject(TOO_LATE);
  expect(await record(world, late)).not.toHaveProperty("edited");
  expect(await edit(world, await typed(12 * MINUTE_MS))).toMatchObject({ status: 200 });

  const old = await typed(48 * HOUR_MS + MINUTE_MS);
  expect(await remove(world, old)).toMatchObject(TOO_LATE);
  expect(await record(world, old)).not.toHaveProperty("revoked");
  const young = await remove(world, await typed(47 * HOUR_MS));
  expect(young).toMatchObject({ status: 200, body: { data: { revoked: true } } });
  expect(await changes(world)).toEqual(["1", "7"]);
});

it("an admin takes what others wrote in a group away for 48 hours, and not later", async () => {
  const world = await openShop({ again: true });
  const { sim } = world;
  const { id: group } = await sim.addGroup({ subject: "Team", creator: SHOP, members: [ANA, BEN, SHOP] });
  const written = async (ms: number): Promise<string> => {
    const { id } = await sim.sendText(ANA, group, "Buy!", ago(ms));
    await until(async () => (await record(world, id)) !== undefined);
    return id;
  };
  const old = await written(48 * HOUR_MS + MINUTE_MS);
  expect(await remove(world, old)).toMatchObject(TOO_LATE);
  expect(await record(world, old)).not.toHaveProperty("revoked");
  const young = await written(47 * HOUR_MS);
  const taken = await remove(world, young);
  expect(taken).toMatchObject({ status: 200, body: { data: { revoked: true } } });
  expect(await sim.waitForMessage(BEN, { id: taken.body.id })).toMatchObject({
    kind: "revoke",
    target: young,
  });
  expect(await changes(world)).toEqual(["8"]);
});

it("what the gateway sent is as old as its sending, however long it waited before", async () => {
  const world = await openShop({ env: { SEND_WAIT_MS: "3000" } });
  const { sim, gateway } = world;
  const [late, old, young] = [await say(world, "Late"), await say(world, "Old"), await say(world, "Young")];
  for (const id of [late, old, young]) await delivered(world, id);
  await sim.faults.refuseUpgrade({ status: 503, times: 1_000 });
  await sim.faults.dropSocket({ number: SHOP });
  await until(async () => !(await sim.online(SHOP)));
  const waited = await say(world, "Waited");
  expect(await record(world, waited)).toMatchObject({ state: "queued" });

  await gateway.stop();
  await makeOlder(world, {
    [late]: 16 * MINUTE_MS,
    [old]: 48 * HOUR_MS + MINUTE_MS,
    [young]: 47 * HOUR_MS,
    [waited]: 20 * MINUTE_MS,
  });
  await gateway.restart();
  expect(await edit(world, late)).toMatchObject(TOO_LATE);
  expect(await record(world, late)).not.toHaveProperty("edited");
  expect(await remove(world, old)).toMatchObject(TOO_LATE);
  expect(await record(world, old)).not.toHaveProperty("revoked");
  await sim.faults.clear();
  await world.online(SHOP, 90_000);

  await delivered(world, waited);
  const { history } = await record(world, waited);
  const [queued, sent] = history.map(({ at }: { at: string }) => Date.parse(at));
  expect(sent - queued).toBeGreaterThan(19 * MINUTE_MS);
  const changed = await edit(world, waited);
  expect(changed).toMatchObject({ status: 200, body: { state: "sent", data: { edited: true } } });
  expect(await sim.waitForMessage(ANA, { id: changed.body.id })).toMatchObject({
    kind: "edit",
    target: waited,
  });
  for (const id of [late, young]) expect(await remove(world, id)).toMatchObject({ status: 200 });
  expect(await changes(world)).toEqual(["1", "7", "7"]);
});

/** Makes everything that is stored of these messages' times earlier; the gateway is not running. */
async function makeOlder({ gateway }: World, ages: Record<string, number>): Promise<void> {
  const database = createClient({ url: gateway.databaseUrl });
  for (const [id, ms] of Object.entries(ages))
    await database.execute({
      sql: `update outbox set created_at = created_at - ?1, sent_at = sent_at - ?1, delivered_at = delivered_at - ?1
        where wa_id = ?2`,
      args: [ms, id],
    });
  database.close();
}
