import { PNG } from "pngjs";
import { describe, expect, it } from "vitest";
import { fasterClock } from "../_setup/fake-clock.ts";
import type { Answer } from "../_setup/client.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const OTHER = "31600000002";

const ask = (world: World, fields: object = {}): Promise<Answer> =>
  world.gateway.post("/generate-qr", { device: SHOP, ...fields }, { key: world.key });

/** Asks until it answers so. */
async function answerIn(world: World, state: string, fields: object = {}): Promise<Answer> {
  let answer!: Answer;
  await until(async () => (answer = await ask(world, fields)).body["state"] === state);
  return answer;
}

const stateOf = async (world: World): Promise<string> =>
  (await world.gateway.get(`/devices/${SHOP}`, { key: world.key })).body["data"].state;

describe("/generate-qr", () => {
  it("says processing within two seconds while WhatsApp lets nobody in, then shows the QR", async () => {
    const world = await openWorld({ again: true });
    await world.sim.faults.refuseUpgrade({ status: 503, times: 1000 });

    const asked = performance.now();
    const answer = await ask(world);

    // Two seconds, and what a very busy machine adds; the QR would take much longer.
    expect(performance.now() - asked).toBeLessThan(15_000);
    expect(answer.status).toBe(200);
    const message = { msg: "Processing", message: "Processing" };
    expect(answer.body).toEqual({ status: false, state: "processing", ...message });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    await world.sim.faults.clear();
    const shown = await answerIn(world, "qr");
    expect(shown.body).toMatchObject({ status: false, message: "Please scan the QR code" });
    expect(shown.body["expires_in"]).toBeLessThanOrEqual(60);
    expect(shown.body["expires_in"]).toBeGreaterThan(30);
    const png = Buffer.from(shown.body["qrcode"].split(",")[1], "base64");
    expect(PNG.sync.read(png).width).toBeGreaterThan(100);
    expect(shown.headers.get("cache-control")).toBe("no-store");
  });

  it("shows two callers the same QR, also beside one who has gone away", async () => {
    const world = await openWorld({ again: true });
    await world.sim.addNumber(SHOP);
    const leaving = new AbortController();
    const gone = world.gateway
      .request("POST", "/generate-qr", {
        headers: { authorization: `Bearer ${world.key}` },
        body: JSON.stringify({ device: SHOP }),
        signal: leaving.signal,
      })
      .catch((error: Error) => error.name);
    const both = Promise.all([ask(world), ask(world)]);
    leaving.abort();

    const [first, second] = await both;
    const later = await answerIn(world, "qr");

    expect(await gone).toBe("AbortError");
    const shown = [first, second].map(({ body }) => body["qr"] ?? later.body["qr"]);
    expect(shown).toEqual([later.body["qr"], later.body["qr"]]);
    await world.sim.scan(SHOP, later.body["qr"]);
    await answerIn(world, "connected");
    expect(await world.sim.companions(SHOP)).toHaveLength(1);
  });

  it("drops a linking in progress with force, and never a linked number", async () => {
    const world = await openWorld({ again: true });
    await world.sim.addNumber(SHOP);
    const first = (await answerIn(world, "qr")).body["qr"];
    expect((await answerIn(world, "qr")).body["qr"]).toBe(first);

    const second = (await answerIn(world, "qr", { force: "1" })).body["qr"];
    expect(second).not.toBe(first);
    await expect(world.sim.scan(SHOP, first)).rejects.toThrow("item-not-found");
    // Asked without force: each further force would begin anew.
    await world.sim.scan(SHOP, (await answerIn(world, "qr")).body["qr"]);
    await answerIn(world, "connected");

    const forced = await ask(world, { force: "1" });
    expect(forced.body).toEqual({
      status: true,
      state: "connected",
      device: SHOP,
      msg: "Device already connected!",
      message: "Device already connected!",
    });
    expect(await world.sim.companions(SHOP)).toHaveLength(1);
    expect(await world.sim.online(SHOP)).toBe(true);
  });

  it("links by a code, the same for all who ask", async () => {
    const world = await openWorld({ again: true });
    await world.sim.addNumber(SHOP);

    const [first, second] = await Promise.all([
      answerIn(world, "code", { method: "code" }),
      answerIn(world, "code", { method: "code" }),
    ]);

    expect(first.body).toMatchObject({ status: false, code: expect.stringMatching(/^[A-Z0-9]{8}$/) });
    expect(first.body["expires_in"]).toBeGreaterThan(0);
    expect(second.body["code"]).toBe(first.body["code"]);
    await world.sim.enterPairingCode(SHOP, first.body["code"]);
    await answerIn(world, "connected", { method: "code" });
    expect(await world.sim.companions(SHOP)).toHaveLength(1);
  });

  it("says connecting with status true while a linked number is on its way back", async () => {
    const world = await openWorld({ again: true });
    await world.link(SHOP);
    await world.sim.faults.refuseUpgrade({ status: 503, times: 1000 });
    await world.sim.faults.dropSocket({ number: SHOP });

    const answer = await answerIn(world, "connecting");

    expect(answer).toMatchObject({ status: 200, body: { status: true, device: SHOP } });
    await world.sim.faults.clear();
    await answerIn(world, "connected");
  });

  it("logs a wrong number out at once, says so once, and starts again", async () => {
    const world = await openWorld({ again: true });
    const owner = await world.sim.addNumber(SHOP);
    await world.sim.addNumber(OTHER);
    const { body } = await answerIn(world, "qr");

    await owner.scanAs(OTHER, body["qr"]);

    let refused!: Answer;
    await until(async () => (refused = await ask(world)).status === 409);
    expect(refused.body).toMatchObject({ status: false, errors: { code: "WRONG_NUMBER", scanned: OTHER } });
    const again = await answerIn(world, "qr");
    expect(again.body["qr"]).not.toBe(body["qr"]);
    await until(async () => (await world.sim.companions(OTHER)).length === 0);
    await world.sim.scan(SHOP, (await answerIn(world, "qr")).body["qr"]);
    await answerIn(world, "connected");
  });

  it("registers no more numbers than the plan allows, and nothing of the one refused", async () => {
    const world = await openWorld({
      again: true,
      env: { PLAN_PRO: '{"devices":1,"keys":5,"sends_per_day":null}' },
    });
    await world.sim.addNumber(SHOP);
    await answerIn(world, "qr");

    const refused = await ask(world, { device: OTHER });

    expect(refused).toMatchObject({ status: 403, body: { status: false, errors: { code: "PLAN_LIMIT" } } });
    const { body } = await world.gateway.get("/devices", { key: world.key });
    expect(body["data"].map(({ device }: { device: string }) => device)).toEqual([SHOP]);
  });

  it("links the business edition as well, and names it", async () => {
    const world = await openWorld({ again: true });
    await world.link(SHOP, { edition: "business", name: "The Shop" });
    const { body } = await world.gateway.get(`/devices/${SHOP}`, { key: world.key });
    expect(body["data"]).toMatchObject({ state: "connected", platform: "smba" });
  });

  it(
    "shows the next QR when one has expired; when all are used up the number is unlinked until it is asked again",
    { timeout: 180_000 },
    async () => {
      // By the client's own clock: 60 s for the first, 20 s for each that follows.
      const world = await openWorld({ env: fasterClock(6), simulator: { qrRefs: 2 } });
      await world.sim.addNumber(SHOP);
      const first = (await answerIn(world, "qr")).body["qr"];

      let next!: Answer;
      await until(async () => {
        next = await ask(world);
        return next.body["state"] === "qr" && next.body["qr"] !== first;
      }, 90_000);
      expect(next.body["expires_in"]).toBeLessThanOrEqual(20);
      // Not by /generate-qr: that would start again.
      await until(async () => (await stateOf(world)) === "unlinked", 60_000);
      const again = await answerIn(world, "qr");

      expect([first, next.body["qr"]]).not.toContain(again.body["qr"]);
      await world.sim.scan(SHOP, again.body["qr"]);
      await answerIn(world, "connected");
    },
  );
});
