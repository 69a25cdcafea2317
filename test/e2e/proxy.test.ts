import { createHash } from "node:crypto";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { startFileHost } from "../_setup/files.ts";
import {
  PROXY_PASSWORD,
  startHttpProxy,
  startHttpsProxy,
  startSocksProxy,
  trustingTests,
  watchArrivals,
  type CountingProxy,
} from "../_setup/proxy.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const OTHER = "31600000002";
const ANA = "4915100000001";

const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const picture = (background: string): Promise<Buffer> =>
  sharp({ create: { width: 40, height: 40, channels: 3, background } })
    .png()
    .toBuffer();

const setProxy = ({ gateway, key }: World, proxy: string | null, number = SHOP) =>
  gateway.patch(`/devices/${number}`, { proxy }, { key });
const why = async ({ gateway, key }: World): Promise<Record<string, any>> =>
  (await gateway.get(`/devices/${SHOP}/why`, { key })).body.data;
const portOf = (url: string): number => Number(new URL(url).port);

/** Connections to the service and to its media host that did not come from this proxy. */
function pastIt(arrivals: ReturnType<typeof watchArrivals>, { sim }: World, proxy: CountingProxy): number[] {
  return [sim.wsUrl, sim.mediaUrl].flatMap((url) =>
    arrivals.at(portOf(url)).filter((port) => !proxy.ports.has(port)),
  );
}

async function sendPicture({ gateway, key }: World, url: string): Promise<Record<string, any>> {
  const fields = { api_key: key, sender: SHOP, number: ANA, media_type: "image", url };
  return (await gateway.post("/send-media", fields)).body;
}

describe.each([
  ["HTTP CONNECT", startHttpProxy, {}],
  ["HTTP CONNECT over TLS", startHttpsProxy, trustingTests()],
  ["SOCKS5", startSocksProxy, {}],
])("a number with a proxy (%s)", (_kind, start, env) => {
  it("goes through it with its connection, uploads and downloads, and nothing else does", async () => {
    const world = await openWorld({ env });
    const { sim, gateway, key } = world;
    const proxy = await start();
    await world.link(OTHER);
    const arrivals = watchArrivals();
    await gateway.post("/devices", { device: SHOP }, { key });
    const set = await setProxy(world, proxy.url);
    expect(set.body.data.proxy).toBe(proxy.url.replace(/:[^:@]+@/, "@"));
    await world.link(SHOP);
    await sim.addContact(ANA, { name: "Ana" });
    const receiver = await startReceiver();
    await gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });

    const red = await picture("#f00");
    const blue = await picture("#00f");
    const host = await startFileHost({ "/red.png": red });
    const sent = await sendPicture(world, host.url("/red.png"));
    expect(sent).toMatchObject({ state: "sent" });
    expect(sha((await sim.mediaOf(ANA, sent["id"])).bytes)).toBe(sha(red));
    await sim.send(ANA, SHOP, { kind: "image", bytes: blue });
    await until(() => receiver.events.some(({ body }) => body.bufferImage === blue.toString("base64")));

    const [ws, media] = [sim.wsUrl, sim.mediaUrl].map((url) => `127.0.0.1:${portOf(url)}`);
    expect(new Set(proxy.targets)).toEqual(new Set([ws, media]));
    expect(pastIt(arrivals, world, proxy)).toEqual([]);
    expect(proxy.refused()).toBe(0);
    // What a customer's address names is fetched straight.
    expect(host.requests).toEqual(["/red.png"]);
    const shown = JSON.stringify((await gateway.get("/devices", { key })).body) + gateway.output();
    for (const secret of [PROXY_PASSWORD, encodeURIComponent(PROXY_PASSWORD)])
      expect(shown).not.toContain(secret);
  });

  it("connects to nothing while it is dead, says so, and comes back with it or without one", async () => {
    const world = await openWorld({ env });
    const { gateway } = world;
    await world.link(SHOP);
    await world.online(SHOP);
    const [dead, alive] = [await start(), await start()];
    await dead.stop();
    const arrivals = watchArrivals();
    await setProxy(world, dead.url);
    await until(async () => (await why(world))["reason"] === "proxy");
    const told = await why(world);
    expect(told).toMatchObject({ state: "connecting", reason: "proxy" });
    expect(told["advice"]).toContain("PATCH /devices/{number}");
    expect(JSON.stringify(told)).not.toContain(encodeURIComponent(PROXY_PASSWORD));
    // A restart makes no exception.
    await gateway.restart();
    await until(async () => (await why(world))["reason"] === "proxy");
    expect(pastIt(arrivals, world, dead)).toEqual([]);

    await setProxy(world, alive.url);
    await world.online(SHOP);
    expect(alive.targets.length).toBeGreaterThan(0);
    expect(pastIt(arrivals, world, alive)).toEqual([]);
    expect((await why(world))["reason"]).toBeNull();

    const removed = await setProxy(world, null);
    expect(removed.body.data.proxy).toBeNull();
    await until(async () => pastIt(arrivals, world, alive).length > 0);
    await world.online(SHOP);
  });

  it("that wants another password lets nothing through, and the reason says so", async () => {
    const world = await openWorld({ env });
    await world.link(SHOP);
    const proxy = await start();
    const arrivals = watchArrivals();
    await setProxy(world, proxy.url.replace(/:[^:@]+@/, ":wrong@"));
    await until(async () => (await why(world))["reason"] === "proxy");
    await until(() => proxy.refused() > 0);
    expect(proxy.targets).toEqual([]);
    expect(pastIt(arrivals, world, proxy)).toEqual([]);
  });
});

it("a proxy whose certificate nobody vouches for gets neither the password nor a connection", async () => {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  const proxy = await startHttpsProxy();
  const arrivals = watchArrivals();
  await setProxy(world, proxy.url);
  await until(async () =>
    (await why(world))["last_close"]?.reason.includes("UNABLE_TO_VERIFY_LEAF_SIGNATURE"),
  );
  expect(await why(world)).toMatchObject({ state: "connecting", reason: "proxy" });
  expect([proxy.targets, proxy.refused()]).toEqual([[], 0]);
  expect(pastIt(arrivals, world, proxy)).toEqual([]);
});

describe("the address of a proxy", () => {
  it.each([
    ["ftp://127.0.0.1:1080"],
    ["socks4://127.0.0.1:1080"],
    ["127.0.0.1:1080"],
    ["http://"],
    ["http://host:99999"],
    ["http://host/path"],
    ["http://host?query"],
    ["socks5://name@host"],
    ["socks5://host:1080 "],
  ])("is refused where it is none: %s", async (proxy) => {
    const { gateway, key } = await openWorld({ again: true });
    await gateway.post("/devices", { device: SHOP }, { key });
    const answer = await gateway.patch(`/devices/${SHOP}`, { proxy }, { key });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.fields).toHaveProperty("proxy");
  });

  it("may not be private unless private addresses are allowed, however it is written", async () => {
    const world = await openWorld({ env: { ALLOW_PRIVATE_NETWORK: "0" } });
    const { gateway, key } = world;
    await gateway.post("/devices", { device: SHOP }, { key });
    for (const host of [
      "127.0.0.1",
      "2130706433",
      "0x7f.1",
      "[::1]",
      "localhost",
      "10.0.0.1",
      "169.254.169.254",
    ])
      for (const scheme of ["http", "https", "socks5"]) {
        const answer = await setProxy(world, `${scheme}://${host}:1080`);
        expect([host, answer.status, answer.body.errors?.code]).toEqual([host, 422, "URL_NOT_ALLOWED"]);
      }
    expect((await gateway.get(`/devices/${SHOP}`, { key })).body.data.proxy).toBeNull();
  });

  it("stays where another field is changed, and goes with null and with an empty text", async () => {
    const world = await openWorld({ again: true });
    const { gateway, key } = world;
    await gateway.post("/devices", { device: SHOP }, { key });
    const shown = async (): Promise<unknown> =>
      (await gateway.get(`/devices/${SHOP}`, { key })).body.data.proxy;
    for (const none of [null, ""]) {
      await setProxy(world, "socks5://a:b@127.0.0.1");
      expect(await shown()).toBe("socks5://a@127.0.0.1:1080");
      await gateway.patch(`/devices/${SHOP}`, { calls: "reject" }, { key });
      expect(await shown()).toBe("socks5://a@127.0.0.1:1080");
      await gateway.patch(`/devices/${SHOP}`, { proxy: none }, { key });
      expect(await shown()).toBeNull();
    }
  });
});
