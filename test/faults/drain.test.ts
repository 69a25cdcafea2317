import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startFileHost } from "../_setup/files.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { until, type World } from "../_setup/world.ts";
import { pdf } from "../unit/media/samples.ts";
import { ANA, BEN, botsFolder, idsPerText, openShop, send, SHOP, temporaryFolder } from "./shop.ts";

const CAT = "4915100000003";
const DAN = "4915100000004";
const OTHER = "31600000002";

/** A bot that says when it was asked, and answers nothing while the file `hang` is there. */
const HANGING = (folder: string) => `
  import { existsSync, writeFileSync } from "node:fs";
  export default (b) => {
    b.keyword("hang", async (ctx) => {
      writeFileSync(${JSON.stringify(join(folder, "asked"))}, "");
      while (existsSync(${JSON.stringify(join(folder, "hang"))})) await new Promise((r) => setTimeout(r, 60_000));
      await ctx.reply("hung no more");
    });
  };`;

/** A request whose body never ends. */
async function startSlowRequest({ gateway }: World): Promise<{ ended: Promise<"answered" | "cut off"> }> {
  const request = httpRequest(`${gateway.url}/admin/accounts`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.adminToken}`,
      "content-type": "application/json",
      expect: "100-continue",
    },
  });
  const ended = new Promise<"answered" | "cut off">((resolve) => {
    request.once("response", () => resolve("answered"));
    request.once("error", () => resolve("cut off"));
  });
  request.flushHeaders();
  await new Promise((resolve) => request.once("continue", resolve));
  return { ended };
}

it(
  "ends within its time on SIGTERM, whatever hangs, and goes on with all of it at the next start",
  { timeout: 240_000 },
  async () => {
    const state = temporaryFolder();
    writeFileSync(join(state, "hang"), "");
    const world = await openShop({ env: { BOTS_DIR: botsFolder({ hanging: HANGING(state) }) } });
    const { gateway, sim, key } = world;
    for (const person of [CAT, DAN]) await sim.addContact(person);
    let hangs = true;
    const receiver = await startReceiver(({ body }) =>
      hangs ? new Promise(() => undefined) : { message: `re: ${body["message"]}` },
    );
    await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url, timeout_ms: 30_000 }, { key });
    const host = await startFileHost({ "/a.pdf": pdf() });

    await sim.sendText(ANA, SHOP, "hang");
    await sim.sendText(BEN, SHOP, "hook");
    await until(() => existsSync(join(state, "asked")) && receiver.events.length === 1);
    await sim.faults.mediaSlow({ direction: "upload", delayMs: 120_000 });
    const media = { sender: SHOP, number: DAN, media_type: "pdf", url: host.url("/a.pdf") };
    const sentFile = gateway.post("/send-media", media, { key }).catch(() => null);
    await until(() => readdirSync(join(gateway.dataDir, "media")).some((name) => name.startsWith("mf_")));
    await sim.faults.holdAcks({ number: SHOP });
    // A receipt of the contact says as much as an ack does.
    await sim.faults.holdDeliveries({ number: SHOP });
    const sentText = send(world, CAT, "held");
    await sim.waitForMessage(CAT, { text: "held" }, 30_000);
    const stream = await fetch(`${gateway.url}/events`, { headers: { authorization: `Bearer ${key}` } });
    const streamed = stream.text().then(
      () => "ended",
      () => "broken",
    );
    await sim.addNumber(OTHER);
    await until(async () => {
      const { body } = await gateway.post("/generate-qr", { device: OTHER }, { key });
      return body["state"] === "qr";
    });
    const slow = await startSlowRequest(world);

    gateway.signal("SIGTERM");
    await until(async () => (await gateway.get("/health/ready")).status === 503);
    expect(await send(world, ANA, "too late")).toMatchObject({
      status: 503,
      body: { errors: { code: "UNAVAILABLE" } },
    });
    await sim.sendText(ANA, SHOP, "while ending");
    const ended = gateway.exited();
    let exit: unknown = null;
    void ended.then((how) => (exit = how));
    await until(() => exit !== null, 60_000);

    expect(exit).toEqual({ code: 0, signal: null });
    expect(await streamed).toBe("ended");
    expect((await sentText).body).toMatchObject({ status: true, results: [{ state: "queued" }] });
    expect(await sentFile.then((answer) => answer?.body["results"] ?? null)).toMatchObject([
      { state: "queued" },
    ]);
    expect(await slow.ended).toBe("cut off");

    await sim.faults.clear();
    hangs = false;
    rmSync(join(state, "hang"));
    await gateway.restart();
    await world.online(SHOP);
    await sim.waitForMessage(ANA, { from: SHOP, text: "hung no more" }, 60_000);
    await sim.waitForMessage(ANA, { from: SHOP, text: "re: while ending" }, 60_000);
    await sim.waitForMessage(BEN, { from: SHOP, text: "re: hook" }, 60_000);
    await sim.waitForMessage(DAN, { from: SHOP }, 60_000);
    await until(async () => {
      const id = (await sentText).body["results"][0].id;
      return ["sent", "delivered", "read"].includes(
        (await gateway.get(`/messages/${id}`, { key })).body["data"]?.state,
      );
    });
    await sim.settle();

    expect(await idsPerText(world, ANA)).toEqual({ "hung no more": 1, "re: while ending": 1 });
    expect(await idsPerText(world, BEN)).toEqual({ "re: hook": 1 });
    expect(await idsPerText(world, CAT)).toEqual({ held: 1 });
    expect(Object.values(await idsPerText(world, DAN))).toEqual([1]);
    expect(new Set(receiver.events.map(({ body }) => body["id"])).size).toBe(2);
  },
);

it.each(["SIGTERM", "SIGINT"] as const)(
  "ends at once on a second signal (%s), and loses nothing",
  { timeout: 120_000 },
  async (again) => {
    const world = await openShop();
    const { gateway, sim, key } = world;
    let hangs = true;
    const receiver = await startReceiver(() =>
      hangs ? new Promise<never>(() => undefined) : { message: "late" },
    );
    await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url, timeout_ms: 30_000 }, { key });
    await sim.sendText(ANA, SHOP, "hook");
    await until(() => receiver.events.length === 1);

    gateway.signal("SIGTERM");
    await until(async () => (await gateway.get("/health/ready")).status === 503);
    gateway.signal(again);
    expect(await gateway.exited()).toEqual({ code: 1, signal: null });
    hangs = false;
    await gateway.restart();

    await sim.waitForMessage(ANA, { from: SHOP, text: "late" }, 60_000);
    expect(await idsPerText(world, ANA)).toEqual({ late: 1 });
  },
);
