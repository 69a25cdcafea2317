import { expect, it } from "vitest";
import { startFileHost } from "../_setup/files.ts";
import { openWorld, until, type World } from "../_setup/world.ts";
import { png } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const BAR = "31600000002";
const ANA = "4915100000001";
const BEN = "4915100000002";

async function openShop(options: Parameters<typeof openWorld>[0] = { again: true }): Promise<World> {
  const world = await openWorld(options);
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  return world;
}

const say = ({ gateway, key }: World, fields: object) =>
  gateway.post("/send-message", { sender: SHOP, number: ANA, message: "Hello", ...fields }, { key });

const record = async ({ gateway, key }: World, id: string) =>
  (await gateway.get(`/messages/${id}`, { key })).body.data;
const scheduled = async ({ gateway, key }: World, query = "") =>
  (await gateway.get(`/scheduled${query}`, { key })).body;
const within = (ms: number): string => new Date(Date.now() + ms).toISOString();

it("leaves at its time, and says until then that it waits", async () => {
  const world = await openShop();
  const { sim } = world;
  const sendAt = within(2_500);
  const later = await say(world, { number: `${ANA}|${BEN}`, message: "Later", send_at: sendAt });
  expect(later).toMatchObject({ status: 202, body: { status: true, message: "Message scheduled!" } });
  const [toAna, toBen] = later.body.results;
  expect(toAna).toMatchObject({ number: ANA, status: true, state: "scheduled" });
  expect(await record(world, toAna.id)).toMatchObject({
    state: "scheduled",
    send_at: sendAt,
    history: [{ state: "scheduled" }],
  });
  const list = await scheduled(world);
  expect(list).toMatchObject({ total: 2, next: null });
  expect(list.data.map(({ id }: { id: string }) => id).toSorted()).toEqual([toAna.id, toBen.id].toSorted());
  expect(list.data[0]).toMatchObject({ message: "Later", state: "scheduled", send_at: sendAt });
  const now = await say(world, { message: "Now" });
  await sim.waitForMessage(ANA, { id: now.body.id });

  const arrived = await sim.waitForMessage(ANA, { id: toAna.id });
  expect(arrived.at).toBeGreaterThanOrEqual(Date.parse(sendAt));
  expect(arrived.at).toBeLessThan(Date.parse(sendAt) + 10_000);
  await sim.waitForMessage(BEN, { id: toBen.id });
  await until(async () => (await record(world, toAna.id)).state === "delivered");
  expect((await record(world, toAna.id)).history.map(({ state }: { state: string }) => state)).toEqual([
    "scheduled",
    "queued",
    "sent",
    "delivered",
  ]);
  expect(await scheduled(world)).toMatchObject({ total: 0, data: [] });
});

it("survives the end of the gateway, with its file, and comes once", async () => {
  const world = await openShop({});
  const { sim, gateway, key } = world;
  const files = await startFileHost({ "/a.png": png(40, 20) });
  const media = { sender: SHOP, number: ANA, media_type: "image", url: files.url("/a.png") };
  const picture = await gateway.post("/send-media", { ...media, send_at: within(6_000) }, { key });
  expect(picture).toMatchObject({ status: 202, body: { state: "scheduled" } });
  const once = { message: "Once", send_at: within(6_000), idempotency_key: "later" };
  const first = await say(world, once);
  await gateway.kill();
  await gateway.restart();
  expect((await say(world, once)).body.id).toBe(first.body.id);
  await sim.waitForMessage(ANA, { id: first.body.id }, 60_000);
  await sim.waitForMessage(ANA, { id: picture.body.id }, 60_000);
  expect((await sim.mediaOf(ANA, picture.body.id)).bytes.length).toBeGreaterThan(0);
  const texts = (await sim.transcript({ contact: ANA })).map(({ kind }) => kind);
  expect(texts.toSorted()).toEqual(["image", "text"]);
});

it("leaves in the order of the times when the number was away meanwhile, in whichever order it was asked for", async () => {
  const world = await openShop();
  const { sim, key, gateway } = world;
  const later = await say(world, { message: "Later", send_at: within(6_000) });
  const sooner = await say(world, { message: "Sooner", send_at: within(1_500) });
  await sim.faults.refuseUpgrade({ status: 503, times: 1_000 });
  await sim.faults.dropSocket({ number: SHOP });
  const isQueued = async ({ body }: Awaited<ReturnType<typeof say>>) =>
    (await record(world, body.id)).state === "queued";
  await until(() => isQueued(sooner));
  const between = { sender: SHOP, number: ANA, message: "Between", idempotency_key: "between" };
  const atOnce = gateway.post("/send-message", between, { key });
  await until(async () => (await gateway.get(`/messages?sender=${SHOP}`, { key })).body.data.length === 3);
  await until(() => isQueued(later));
  await sim.faults.clear();
  await sim.waitForMessage(ANA, { id: later.body.id }, 90_000);
  expect((await sim.transcript({ contact: ANA })).map(({ text }) => text)).toEqual([
    "Sooner",
    "Between",
    "Later",
  ]);
  expect((await atOnce).body.status).toBe(true);
});

it("is changed and cancelled where it waits", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const kept = await say(world, { message: "Wrng", send_at: within(3_000) });
  const dropped = await say(world, { message: "Never", send_at: within(3_000) });
  const changed = await gateway.patch(`/messages/${kept.body.id}`, { message: "Right" }, { key });
  expect(changed).toMatchObject({ status: 200, body: { state: "scheduled", data: { edited: true } } });
  for (const _ of [1, 2])
    expect(await gateway.delete(`/messages/${dropped.body.id}`, { key })).toMatchObject({
      status: 200,
      body: { state: "cancelled", data: { state: "cancelled" } },
    });
  expect(await gateway.patch(`/messages/${dropped.body.id}`, { message: "x" }, { key })).toMatchObject({
    status: 409,
    body: { errors: { code: "NOT_EDITABLE" } },
  });
  expect((await record(world, dropped.body.id)).history.map(({ state }: { state: string }) => state)).toEqual(
    ["scheduled", "cancelled"],
  );
  await sim.waitForMessage(ANA, { id: kept.body.id });
  const after = await say(world, { message: "After" });
  await sim.waitForMessage(ANA, { id: after.body.id });
  expect((await sim.transcript({ contact: ANA })).map(({ text }) => text)).toEqual(["Right", "After"]);
});

it("refuses times that are over, too far, or none, and an end before the beginning", async () => {
  const world = await openShop();
  for (const send_at of [within(-1_000), "2030-01-31T12:00:00", "tomorrow", 0, -1, 1_700_000_000, 1.5])
    expect(await say(world, { send_at })).toMatchObject({
      status: 400,
      body: { errors: { code: "INVALID_PARAMETERS", fields: { send_at: expect.anything() } } },
    });
  for (const fields of [
    { send_at: within(366 * 24 * 3_600_000) },
    { send_at: within(60_000), expires: within(30_000) },
  ])
    expect(await say(world, fields)).toMatchObject({
      status: 422,
      body: { errors: { code: "TIME_NOT_USABLE" } },
    });
  const unix = Math.floor(Date.now() / 1_000) + 3_600;
  const inAnHour = await say(world, { send_at: unix, expires: 60 });
  expect(await record(world, inAnHour.body.id)).toMatchObject({
    send_at: new Date(unix * 1_000).toISOString(),
  });
  expect(await scheduled(world, `?sender=${SHOP}&chat=${BEN}`)).toMatchObject({ data: [] });
  expect((await scheduled(world, `?chat=${ANA}`)).data).toHaveLength(1);
});

it("is listed page by page, each once, and to a key only what is of its recipients and its numbers", async () => {
  const world = await openShop();
  const { gateway, key } = world;
  await world.link(BAR);
  const later = async (sender: string, number: string): Promise<string> =>
    (await say(world, { sender, number, send_at: within(3_600_000) })).body.id;
  const all: string[] = [];
  for (const number of [ANA, BEN, ANA, BEN, BEN]) all.unshift(await later(SHOP, number));
  all.unshift(await later(BAR, ANA));
  const limited = async (limits: object): Promise<World> => {
    const wanted = { name: "limited", permissions: ["messages"], ...limits };
    return { ...world, key: (await gateway.post("/api-keys", wanted, { key })).body.api_key };
  };
  /** Follows `next` to the end. */
  const pages = async (as: World, query = ""): Promise<string[][]> => {
    const found: string[][] = [];
    for (let before = ""; ;) {
      const { data, next } = await scheduled(as, `?limit=2${query}${before}`);
      found.push(data.map(({ id }: { id: string }) => id));
      if (next === null) return found;
      before = `&before=${encodeURIComponent(next)}`;
    }
  };

  const whole = await pages(world);
  expect(whole.flat()).toEqual(all);
  expect(whole.every((page) => page.length <= 2)).toBe(true);
  const [ofBar, ...ofShop] = all;
  expect((await pages(world, `&sender=${SHOP}`)).flat()).toEqual(ofShop);

  const bens = [ofShop[0], ofShop[1], ofShop[3]];
  const forBen = await limited({ recipients: [BEN] });
  expect((await scheduled(forBen)).data.map(({ id }: { id: string }) => id)).toEqual(bens);
  expect((await pages(forBen)).flat()).toEqual(bens);
  expect((await scheduled(forBen, `?chat=${ANA}`)).data).toEqual([]);

  const forBar = await limited({ devices: [BAR] });
  expect((await pages(forBar)).flat()).toEqual([ofBar]);
  expect((await pages(forBar, `&sender=${BAR}`)).flat()).toEqual([ofBar]);
  expect(await gateway.get(`/scheduled?sender=${SHOP}`, { key: forBar.key })).toMatchObject({
    status: 404,
    body: { errors: { code: "SENDER_NOT_FOUND" } },
  });
});

it("expires at its time although the number is away", async () => {
  const world = await openShop();
  const { sim } = world;
  await sim.faults.refuseUpgrade({ status: 503, times: 1_000 });
  await sim.faults.dropSocket({ number: SHOP });
  await until(async () => !(await sim.online(SHOP)));
  const { status, body } = await say(world, { expires: 1 });
  expect([status, body.errors.code]).toEqual([504, "EXPIRED"]);
  expect(await record(world, body.results[0].id)).toMatchObject({ state: "expired" });
});
