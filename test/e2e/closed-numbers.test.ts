import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkVersion } from "../../src/cli/doctor/checks.ts";
import { loadConfig } from "../../src/config.ts";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

/** What WhatsApp does to the number, and the state that it is in then. */
const ENDED = [
  { code: 401, state: "logged_out" },
  { code: 403, state: "blocked" },
  { code: 440, state: "replaced" },
  { code: 516, state: "logged_out" },
] as const;

describe("a number that WhatsApp has ended", () => {
  for (const { code, state } of ENDED)
    it(`with ${code} is ${state}: sends are refused and nothing is stored`, async () => {
      const world = await openWorld({ again: true });
      await world.link(SHOP);
      await world.sim.addContact(ANA);

      await world.sim.faults.close({ number: SHOP, code });
      await until(async () => {
        const { body } = await world.gateway.get(`/devices/${SHOP}`, { key: world.key });
        return body.data.state === state;
      });

      const answer = await world.gateway.post(
        "/send-message",
        { sender: SHOP, number: ANA, message: "hello" },
        { key: world.key },
      );
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ msg: "Invalid data!", errors: { code: "SENDER_NOT_CONNECTED" } });
      const why = await world.gateway.get(`/devices/${SHOP}/why`, { key: world.key });
      expect(why.body.data).toMatchObject({ state, last_close: { code } });
      expect(why.body.data.advice).not.toBe("");
    });
});

it("a line that WhatsApp closes again and again, with traffic in between, is back within seconds each time", async () => {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA);
  const tookMs: number[] = [];
  for (let round = 0; round < 10; round++) {
    const text = `round ${round}`;
    const request = { sender: SHOP, number: ANA, message: text };
    expect((await world.gateway.post("/send-message", request, { key: world.key })).status).toBe(200);
    await world.sim.faults.dropSocket({ number: SHOP });
    const closedAt = performance.now();
    await world.online(SHOP, 60_000);
    tookMs.push(performance.now() - closedAt);
  }
  expect(tookMs.filter((ms) => ms > 5_000).length, tookMs.map(Math.round).join(" ")).toBeLessThanOrEqual(1);
});

it.each([
  { why: "ack", says: "misses the acknowledgement" },
  { why: "xml-not-well-formed", says: "could not read" },
] as const)(
  "a connection that WhatsApp ends with $why is made anew, and says why it ended",
  async ({ why, says }) => {
    const world = await openWorld({ again: true });
    await world.link(SHOP);
    await world.sim.addContact(ANA);
    const whyOf = async () =>
      (await world.gateway.get(`/devices/${SHOP}/why`, { key: world.key })).body["data"];

    await world.sim.faults.streamError({ number: SHOP, why });
    await until(async () => (await whyOf()).last_close?.reason.includes(says));

    expect((await whyOf()).last_close.code).toBe(500);
    await world.online(SHOP);
    const sent = await world.gateway.post(
      "/send-message",
      { sender: SHOP, number: ANA, message: "hello" },
      { key: world.key },
    );
    expect(sent.body).toMatchObject({ state: "sent" });
  },
);

it("a number that WhatsApp does not let be linked by code says so, and is linked by QR", async () => {
  const world = await openWorld({ again: true });
  const owner = await world.sim.addNumber(SHOP);
  await world.sim.faults.refuseLinkingCode({ number: SHOP, times: 5 });
  const ask = (method: string) =>
    world.gateway.post("/generate-qr", { device: SHOP, method }, { key: world.key });

  await until(async () => (await ask("code")).status === 502);

  const refused = await ask("code");
  expect(refused.body).toMatchObject({
    status: false,
    errors: { code: "WHATSAPP_REFUSED", whatsapp_code: 400 },
  });
  expect(refused.body["msg"]).toContain("QR");
  const { body: why } = await world.gateway.get(`/devices/${SHOP}/why`, { key: world.key });
  expect(why["data"]).toMatchObject({ state: "linking", reason: "code_refused" });
  expect(why["data"].advice).toContain("QR");
  const { body: shown } = await ask("qr");
  expect(shown["state"]).toBe("qr");
  await owner.scan(shown["qr"]);
  await world.online(SHOP);
});

describe("a number that WhatsApp has banned for a time", () => {
  it("is blocked until then, says so, also after a restart, and comes back by itself", async () => {
    const world = await openWorld();
    await world.link(SHOP);
    const whyOf = async () =>
      (await world.gateway.get(`/devices/${SHOP}/why`, { key: world.key })).body["data"];
    await world.sim.faults.close({ number: SHOP, code: 402, expire: 12, banCode: 101, atLogin: true });
    await world.sim.faults.dropSocket({ number: SHOP });
    await until(async () => (await whyOf()).state === "blocked");

    const why = await whyOf();
    expect(why).toMatchObject({ reason: "banned", last_close: { code: 402 }, waiting: null, reachout: null });
    expect(why.last_close.reason).toContain("101");
    expect(why.next_retry_at).toBe(why.until);
    await world.gateway.restart();
    expect(await whyOf()).toMatchObject({ state: "blocked", until: why.until });

    await world.online(SHOP, 45_000);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(why.until));
    expect(await whyOf()).toMatchObject({ state: "connected", reason: null, until: null });
  });
});

describe("a gateway whose client WhatsApp finds too old", () => {
  it("says so of each number, in the log, and to the doctor, who knows the cure; with it all come back", async () => {
    const world = await openWorld();
    const { gateway, sim, key } = world;
    await world.link(SHOP);
    const why = async (number: string) => (await gateway.get(`/devices/${number}/why`, { key })).body["data"];
    const env = { HOST: "127.0.0.1", PORT: String(gateway.port), PARLEY_ADMIN_TOKEN: gateway.adminToken };
    const diagnosis = () => checkVersion(loadConfig(env), [2, 3000, 1]);
    expect(await diagnosis()).toMatchObject({ state: "good" });

    await sim.faults.refuseVersions({ below: "2.3000.4000000000" });
    await sim.faults.dropSocket({ number: SHOP });
    await until(async () => (await why(SHOP)).state === "action_required");
    const told = await why(SHOP);
    expect(told).toMatchObject({
      reason: "version",
      last_close: { code: 405 },
      advice: expect.stringContaining("WHATSAPP_VERSION"),
    });
    expect(told.last_close.reason).toMatch(/client version 2\.3000\.\d+/);
    expect(Date.parse(told.next_retry_at)).toBeGreaterThan(Date.now());
    expect(gateway.output()).toContain("WhatsApp refuses this client version");
    expect(await diagnosis()).toMatchObject({
      state: "bad",
      text: expect.stringMatching(/refuses 2\.3000\.\d+.*WHATSAPP_VERSION_URL/),
    });
    const other = "31600000002";
    let answer = { state: "" };
    await until(async () => {
      answer = (await gateway.post("/generate-qr", { device: other }, { key })).body as never;
      return answer.state === "action_required";
    });
    expect(answer).toMatchObject({ status: false, reason: "version", device: other });

    const page = createServer((_request, response) => response.end('{"client_revision":4000000001,"x":1}'));
    page.listen(0, "127.0.0.1");
    await once(page, "listening");
    onTestFinished(() => void page.close());
    const { port } = page.address() as AddressInfo;
    await gateway.restart({ WHATSAPP_VERSION_URL: `http://127.0.0.1:${port}/sw.js` });
    await world.online(SHOP);
    expect(await diagnosis()).toEqual({ name: "version", state: "good", text: "2.3000.4000000001" });
  });
});

describe("a number that is on its way back", () => {
  it("says how much WhatsApp still holds back, until it has come", async () => {
    const world = await openWorld({ again: true });
    const { sim, gateway, key } = world;
    await world.link(SHOP);
    await sim.addContact(ANA);
    const get = async (path: string) => (await gateway.get(`/devices/${SHOP}${path}`, { key })).body["data"];
    expect(await get("")).toMatchObject({ state: "connected", waiting: null });
    await sim.faults.refuseUpgrade({ status: 503, times: 1 });
    await sim.faults.dropSocket({ number: SHOP });
    await until(async () => !(await sim.online(SHOP)));
    await sim.sendText(ANA, SHOP, "while you were away");
    await sim.faults.withholdOffline({ number: SHOP });

    await until(async () => (await get("")).waiting >= 1);

    expect(await get("/why")).toMatchObject({
      state: "connecting",
      reason: "catching_up",
      waiting: expect.any(Number),
    });
    await sim.faults.restoreOffline({ number: SHOP });
    await world.online(SHOP);
    expect(await get("")).toMatchObject({ state: "connected", waiting: null });
    expect(await get("/why")).toMatchObject({ reason: null, waiting: null });
  });

  it("takes sends, says queued, and sends them when it is online again", async () => {
    const world = await openWorld({ again: true, env: { SEND_WAIT_MS: "200" } });
    await world.link(SHOP);
    await world.sim.addContact(ANA);
    await world.sim.faults.refuseUpgrade({ status: 503, times: 3 });
    await world.sim.faults.dropSocket({ number: SHOP });
    await until(async () => !(await world.sim.online(SHOP)));

    const answer = await world.gateway.post(
      "/send-message",
      { sender: SHOP, number: ANA, message: "later" },
      { key: world.key },
    );

    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ status: true, state: "queued", msg: "Message queued!" });
    expect(await world.sim.waitForMessage(ANA, { id: answer.body.id }, 45_000)).toMatchObject({
      text: "later",
    });
  });
});
