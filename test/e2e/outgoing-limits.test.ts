import { createClient } from "@libsql/client";
import { describe, expect, it, vi } from "vitest";
import { attempts, recordOf, sendText, SHOP, untilState } from "../_setup/outgoing.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

// Several starts and reconnects, on a machine that is busy with others.
vi.setConfig({ testTimeout: 240_000 });

const ANA = "4915100000001";
const BEN = "4915100000002";
const DAY_MS = 86_400_000;

async function openShop(env: Record<string, string> = {}): Promise<World> {
  const world = await openWorld({ env: { SEND_WAIT_MS: "0", ...env } });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  return world;
}

/** Something done to the database while no gateway has it. */
async function inDatabase<T>(
  { gateway }: World,
  work: (database: ReturnType<typeof createClient>) => Promise<T>,
): Promise<T> {
  const database = createClient({ url: gateway.databaseUrl });
  try {
    return await work(database);
  } finally {
    database.close();
  }
}

describe("429", () => {
  it("pauses the number: nothing fails, and what waits arrives under its ids", async () => {
    const world = await openShop();
    await world.sim.faults.errorAck({ number: SHOP, code: 429 });
    const first = await sendText(world, ANA, "first");
    await until(() => world.gateway.output().includes("sending is paused"));
    const second = await sendText(world, BEN, "second");
    expect(await attempts(world, second.body["id"])).toBe(0);

    await world.sim.waitForMessage(ANA, { id: first.body["id"], text: "first" }, 60_000);
    await world.sim.waitForMessage(BEN, { id: second.body["id"], text: "second" }, 60_000);

    expect(await attempts(world, first.body["id"])).toBe(2);
    expect(await attempts(world, second.body["id"])).toBe(1);
    await untilState(world, first.body["id"], "delivered");
  });

  it("means the same when it answers a question for devices or for a group; why says until when", async () => {
    const world = await openShop();
    const { sim, gateway, key } = world;
    const { id: group } = await sim.addGroup({ subject: "Team", members: [ANA, SHOP] });
    const why = async () => (await gateway.get(`/devices/${SHOP}/why`, { key })).body["data"];
    // Not the question for LIDs, which comes before or after it.
    const of = { xmlns: "usync", context: "message" };
    await sim.faults.rateOverlimit({ number: SHOP, device: 1, of, backoff: 7 });

    const { body } = await sendText(world, ANA, "hello");
    await until(() => gateway.output().includes("sending is paused"));

    const told = await why();
    expect(told).toMatchObject({ state: "connected", reason: "rate_limited" });
    expect(Date.parse(told.until)).toBeGreaterThan(Date.now());
    expect(told.advice).toContain("429");
    expect(await sim.waitForMessage(ANA, { id: body["id"] }, 60_000)).toMatchObject({ text: "hello" });
    await untilState(world, body["id"], "delivered");
    expect(await why()).toMatchObject({ reason: null, until: null });

    // Asked when the send is taken, and once more when it leaves.
    await sim.faults.rateOverlimit({ number: SHOP, device: 1, times: 2 });
    const second = await sendText(world, group, "to all");
    await until(async () => (await why()).reason === "rate_limited");
    expect(await sim.waitForMessage(ANA, { id: second.body["id"] }, 60_000)).toMatchObject({
      text: "to all",
    });
  });

  it("is remembered by a gateway that was killed during the pause", async () => {
    const world = await openShop();
    await world.sim.faults.errorAck({ number: SHOP, code: 429 });
    const { body } = await sendText(world, ANA, "hello");
    await until(() => world.gateway.output().includes("sending is paused"));
    const stored = await until(async () => (await pauses(world)) === 1).then(() => pauses(world));
    await world.gateway.kill();
    expect(stored).toBe(1);
    // Another 23 hours, as if WhatsApp had asked for the next pause again and again.
    await inDatabase(world, (database) =>
      database.execute({ sql: "update send_brakes set until = ?", args: [Date.now() + DAY_MS] }),
    );

    await world.gateway.restart();
    await world.online(SHOP);

    const other = await sendText(world, BEN, "other");
    expect((await recordOf(world, other.body["id"]))["state"]).toBe("queued");
    expect(await attempts(world, body["id"])).toBe(1);
    expect(await attempts(world, other.body["id"])).toBe(0);
  });
});

const pauses = async (world: World): Promise<number> =>
  inDatabase(world, async (database) => (await database.execute("select * from send_brakes")).rows.length);

describe("a message that waited too long", () => {
  it("expires while its number is away, says why, and is never sent", async () => {
    const world = await openShop({ RETENTION_DAYS: "3" });
    const { sim, gateway } = world;
    await sim.faults.refuseUpgrade({ status: 503, times: 1_000 });
    await sim.faults.dropSocket({ number: SHOP });
    await until(async () => !(await sim.online(SHOP)));
    const old = await sendText(world, ANA, "too old");
    const young = await sendText(world, ANA, "in time");
    expect(old.body).toMatchObject({ state: "queued" });
    await gateway.stop();
    await inDatabase(world, (database) =>
      database.execute({
        sql: "update outbox set created_at = created_at - ? where wa_id = ?",
        args: [11 * DAY_MS, old.body["id"]],
      }),
    );

    await gateway.restart();

    await untilState(world, old.body["id"], "expired");
    expect(await recordOf(world, old.body["id"])).toMatchObject({ error: { code: "EXPIRED" } });
    await sim.faults.clear();
    await sim.waitForMessage(ANA, { id: young.body["id"] }, 90_000);
    expect(await sim.messages(ANA, { id: old.body["id"] })).toEqual([]);
  });
});

describe("a group where only admins write", () => {
  it("gets no answer of the webhook: the refusal is known before WhatsApp is asked", async () => {
    const world = await openShop();
    const { sim, gateway, key } = world;
    const receiver = await startReceiver({ message: "An answer." });
    await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });
    const group = await sim.addGroup({
      subject: "Announcements",
      creator: ANA,
      members: [ANA, SHOP],
      announce: true,
    });

    await sim.sendText(ANA, group.id, "Only I may write here");

    await until(() => receiver.events.length === 1);
    const answered = async () =>
      (await gateway.get("/deliveries", { key })).body["data"][0]?.reply?.ids ?? [];
    await until(async () => (await answered()).length === 1);
    const [id] = await answered();
    await untilState(world, id, "failed");
    expect(await recordOf(world, id)).toMatchObject({ error: { code: "CANNOT_SEND" } });
    expect(await attempts(world, id)).toBe(0);
  });
});
