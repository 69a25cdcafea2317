import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withFakeClock } from "../_setup/fake-clock.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { until, type World } from "../_setup/world.ts";
import { ANA, BEN, botsFolder, idsPerText, openShop, send, SHOP, temporaryFolder } from "./shop.ts";

const HOUR_S = 3_600;
const DAY_S = 86_400;
const ECHO = `export default (b) => b.match(/^echo/, (ctx) => ctx.reply("bot: " + ctx.text));`;

/** A gateway whose wall clock can be set while it runs; its timers go by the real, monotonic one. */
async function openShopWithClock(): Promise<{ world: World; set(seconds: number): void }> {
  const file = join(temporaryFolder(), "offset");
  const set = (seconds: number): void => writeFileSync(file, `${seconds < 0 ? "" : "+"}${seconds}\n`);
  set(0);
  const world = await openShop({
    env: {
      BOTS_DIR: botsFolder({ echo: ECHO }),
      ...withFakeClock({
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
      }),
    },
  });
  return { world, set };
}

async function gatewayTime({ gateway }: World): Promise<number> {
  return Date.parse((await gateway.get("/health/live")).headers.get("date") ?? "");
}

it(
  "±1 hour and ±1 day while it runs: every message comes and goes once, and signatures carry the present",
  { timeout: 240_000 },
  async () => {
    const { world, set } = await openShopWithClock();
    const { gateway, sim, key } = world;
    const receiver = await startReceiver("");
    await gateway.put(
      `/devices/${SHOP}/webhook`,
      { url: receiver.url, mode: "always", reply_max_age: 86_400 },
      { key },
    );

    const jumps = [0, HOUR_S, -HOUR_S, DAY_S - HOUR_S, -DAY_S, 0];
    for (const [n, seconds] of jumps.entries()) {
      set(seconds);
      await until(async () => Math.abs((await gatewayTime(world)) - Date.now() - seconds * 1_000) < 60_000);
      await sim.sendText(ANA, SHOP, `echo ${n}`);
      await until(() => receiver.events.some(({ body }) => body["message"] === `echo ${n}`));
      await sim.waitForMessage(ANA, { from: SHOP, text: `bot: echo ${n}` }, 30_000);
      const options = { key, headers: { "idempotency-key": `key-${n}` } };
      const request = { sender: SHOP, number: BEN, message: `sent ${n}` };
      const first = await gateway.post("/send-message", request, options);
      const again = await gateway.post("/send-message", request, options);
      expect(first.body).toMatchObject({ status: true });
      expect(again.body["results"]).toEqual(first.body["results"]);
      const { headers } = receiver.events.findLast(({ body }) => body["message"] === `echo ${n}`)!;
      const signedAt = Number(headers["webhook-timestamp"]);
      expect(Math.abs(signedAt - Date.now() / 1_000 - seconds)).toBeLessThan(120);
    }
    await sim.settle();

    const each = (prefix: string) => Object.fromEntries(jumps.map((_, n) => [`${prefix} ${n}`, 1]));
    expect(await idsPerText(world, ANA)).toEqual(each("bot: echo"));
    expect(await idsPerText(world, BEN)).toEqual(each("sent"));
    expect(receiver.events).toHaveLength(jumps.length);
    expect(gateway.output()).toContain("the clock was set back");
    expect(gateway.output()).toContain("the clock was set forward");
    expect((await gateway.get(`/devices/${SHOP}`, { key })).body["data"].state).toBe("connected");
  },
);

it.each(["while it runs", "between two starts"])(
  "set back by a day %s: a delivery that is due in seconds does not wait for a day, and is not stormed",
  { timeout: 240_000 },
  async (when) => {
    const { world, set } = await openShopWithClock();
    const { gateway, sim, key } = world;
    const receiver = await startReceiver("");
    receiver.status = 500;
    await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });
    await sim.sendText(ANA, SHOP, "hook");
    await until(async () => {
      const { body } = await gateway.get("/deliveries", { key });
      return body["data"][0]?.state === "retrying" && body["data"][0].attempts.length === 2;
    }, 60_000);

    receiver.status = 200;
    if (when === "while it runs") set(-DAY_S);
    else {
      await gateway.stop();
      set(-DAY_S);
      await gateway.restart();
      await world.online(SHOP);
    }
    await until(() => gateway.output().includes("the clock was set back"));

    const { body } = await gateway.get("/deliveries", { key });
    const waits = Date.parse(body["data"][0].next_at) - (await gatewayTime(world));
    expect(waits).toBeLessThan(10 * 60_000);
    expect(receiver.events).toHaveLength(2);
    await send(world, BEN, "still sending");
    await sim.waitForMessage(BEN, { from: SHOP, text: "still sending" }, 30_000);
  },
);

it(
  "31 days ahead while it runs and after a start: the same key sends once",
  { timeout: 240_000 },
  async () => {
    const { world, set } = await openShopWithClock();
    const { gateway, sim, key } = world;
    const request = { sender: SHOP, number: BEN, message: "once" };
    const ask = () =>
      gateway.post("/send-message", request, { key, headers: { "idempotency-key": "one order" } });
    const first = await ask();
    expect(first.status).toBe(200);

    set(31 * DAY_S);
    const running = await ask();
    await gateway.restart();
    await world.online(SHOP);
    const restarted = await ask();

    for (const { text, headers } of [running, restarted]) {
      expect(text).toBe(first.text);
      expect(headers.get("idempotency-replayed")).toBe("true");
    }
    await sim.settle();
    expect(await idsPerText(world, BEN)).toEqual({ once: 1 });
  },
);

it(
  "31 days ahead: nothing that is scheduled leaves early, and what is due leaves once when the clock is right again",
  { timeout: 240_000 },
  async () => {
    const { world, set } = await openShopWithClock();
    const { gateway, sim, key } = world;
    const schedule = async (message: string, seconds: number): Promise<void> => {
      const sendAt = new Date(Date.now() + seconds * 1_000).toISOString();
      const asked = { sender: SHOP, number: BEN, message, send_at: sendAt };
      expect((await gateway.post("/send-message", asked, { key })).status).toBe(202);
    };
    const scheduled = async () =>
      (await gateway.get("/scheduled", { key })).body["data"].map((one: { message: string }) => one.message);
    await schedule("soon", 30);
    await schedule("later", HOUR_S);

    set(31 * DAY_S);
    await until(() =>
      gateway.output().includes("nothing scheduled is sent until WhatsApp confirms the time"),
    );
    // It looks each second what is due.
    const looked = (await gatewayTime(world)) + 4_000;
    await until(async () => (await gatewayTime(world)) > looked);
    await send(world, BEN, "now");
    await sim.waitForMessage(BEN, { from: SHOP, text: "now" }, 30_000);
    expect(await idsPerText(world, BEN)).toEqual({ now: 1 });
    expect((await scheduled()).toSorted()).toEqual(["later", "soon"]);

    set(0);
    await gateway.restart();
    await world.online(SHOP);
    await sim.waitForMessage(BEN, { from: SHOP, text: "soon" }, 60_000);
    await sim.settle();
    expect(await idsPerText(world, BEN)).toEqual({ now: 1, soon: 1 });
    expect(await scheduled()).toEqual(["later"]);
  },
);
