import sharp from "sharp";
import { expect, it } from "vitest";
import { startFileHost } from "../_setup/files.ts";
import { openWorld, until, type World } from "../_setup/world.ts";
import { pdf, png } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

async function openShop(again = true): Promise<World> {
  const world = await openWorld({ again });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  return world;
}

const read = ({ gateway, key }: World) => gateway.get(`/devices/${SHOP}/profile`, { key });
const change = ({ gateway, key }: World, fields: object) =>
  gateway.patch(`/devices/${SHOP}/profile`, fields, { key });

/** As the owner's phone has it. */
async function nameOnPhone({ sim }: World): Promise<string | null> {
  const entry = (await sim.appState(SHOP)).find(({ index }) => index[0] === "setting_pushName");
  const { pushNameSetting } = (entry?.value ?? {}) as { pushNameSetting?: { name: string } };
  return pushNameSetting?.name ?? null;
}

const sizeOf = async (jpeg: Uint8Array | null) => {
  const { format, width, height } = await sharp(jpeg!).metadata();
  return { format, width, height };
};

it("is read and changed, as the phone and contacts see it", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const host = await startFileHost({ "/shop.png": png(2_000, 1_000), "/small.png": png(20, 30) });
  expect((await read(world)).body.data).toMatchObject({ device: SHOP, about: null, picture_url: null });

  const changed = await change(world, {
    name: "Corner shop",
    about: "Open until six",
    picture_url: host.url("/shop.png"),
  });
  expect(changed).toMatchObject({
    status: 200,
    body: { data: { device: SHOP, name: "Corner shop", about: "Open until six" } },
  });
  expect((await read(world)).body.data).toEqual(changed.body.data);
  expect(await sim.about(SHOP)).toBe("Open until six");
  expect(await sizeOf(await sim.picture(SHOP))).toEqual({ format: "jpeg", width: 640, height: 640 });
  expect(await nameOnPhone(world)).toBe("Corner shop");

  const { id } = (await gateway.post("/send-message", { sender: SHOP, number: ANA, message: "Hi" }, { key }))
    .body;
  await sim.waitForMessage(ANA, { id });
  const stanzas = await sim.stanzas({ number: ANA, device: 0, tag: "message", direction: "out" });
  expect(stanzas.find(({ attrs }) => attrs.id === id)?.attrs.notify).toBe("Corner shop");

  await change(world, { picture_url: host.url("/small.png") });
  expect(await sizeOf(await sim.picture(SHOP))).toEqual({ format: "jpeg", width: 192, height: 192 });
  const emptied = await change(world, { about: "", picture_url: "" });
  expect(emptied.body.data).toMatchObject({ name: "Corner shop", about: null, picture_url: null });
  expect(await sim.picture(SHOP)).toBeNull();
});

it("is written beside what the phone writes at the same time", async () => {
  const world = await openShop();
  // The phone has shared its keys, and told all that it tells a new companion.
  await until(async () => (await change(world, { name: "Shop" })).status === 200);
  await Promise.all([world.sim.setPushName(SHOP, "By the phone"), change(world, { name: "By the gateway" })]);
  await until(async () => (await nameOnPhone(world)) === (await read(world)).body.data.name);
  expect(["By the phone", "By the gateway"]).toContain(await nameOnPhone(world));
});

it("is refused with what is wrong, and nothing is changed", async () => {
  const world = await openShop();
  const host = await startFileHost({ "/a.pdf": pdf() });
  const refused = async (fields: object) => {
    const { status, body } = await change(world, fields);
    return { status, code: body.errors.code, fields: Object.keys(body.errors.fields ?? {}) };
  };
  expect(await refused({ name: "" })).toEqual({ status: 400, code: "INVALID_PARAMETERS", fields: ["name"] });
  expect(await refused({ name: "x".repeat(26) })).toMatchObject({ status: 400, fields: ["name"] });
  expect(await refused({ about: "x".repeat(140) })).toMatchObject({ status: 400, fields: ["about"] });
  expect(await refused({ nam: "Shop" })).toMatchObject({ status: 400, fields: ["nam"] });
  expect(await refused({ picture_url: "file:///etc/passwd" })).toMatchObject({
    status: 400,
    fields: ["picture_url"],
  });
  expect(await refused({ about: "No", picture_url: host.url("/a.pdf") })).toMatchObject({
    status: 422,
    code: "FILE_NOT_USABLE",
  });
  expect(await world.sim.about(SHOP)).toBe("");
  expect((await world.gateway.get("/devices/31600000009/profile", { key: world.key })).status).toBe(404);
});

it("is changed at most ten times an hour, each field by itself", async () => {
  const world = await openShop();
  for (let about = 0; about < 9; about++)
    expect((await change(world, { about: `Text ${about}` })).status).toBe(200);
  const both = await change(world, { name: "Shop", about: "Both" });
  expect(both).toMatchObject({ status: 429, body: { errors: { code: "RATE_LIMITED" } } });
  const seconds = Number(both.headers.get("retry-after"));
  expect(seconds).toBeGreaterThan(3_500);
  expect(seconds).toBeLessThanOrEqual(3_600);
  expect(await world.sim.about(SHOP)).toBe("Text 8");
  expect((await change(world, { about: "The tenth" })).status).toBe(200);
  expect((await change(world, { about: "One more" })).status).toBe(429);
  expect((await change(world, {})).body.data.about).toBe("The tenth");
});

it("of a group is a picture that its members see, and that only those set who may", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const host = await startFileHost({ "/team.png": png(300, 400) });
  const { id } = await sim.addGroup({ subject: "Team", creator: SHOP, members: [ANA, SHOP] });
  const setPicture = (of: string, url: string) =>
    gateway.patch(`/groups/${of}`, { sender: SHOP, picture_url: url }, { key });
  expect((await setPicture(id, host.url("/team.png"))).status).toBe(200);
  expect(await sizeOf(await sim.picture(id))).toEqual({ format: "jpeg", width: 300, height: 300 });
  expect((await setPicture(id, "")).status).toBe(200);
  expect(await sim.picture(id)).toBeNull();

  const { id: locked } = await sim.addGroup({
    subject: "Board",
    creator: ANA,
    members: [SHOP],
    locked: true,
  });
  expect(await setPicture(locked, host.url("/team.png"))).toMatchObject({
    status: 403,
    body: { errors: { code: "CANNOT_SEND", reason: "only_admins" } },
  });
  expect(await sim.picture(locked)).toBeNull();
});

it("is not changed when WhatsApp wants fewer changes, which is told with Retry-After", async () => {
  const world = await openShop();
  const { sim } = world;
  const host = await startFileHost({ "/shop.png": png(300, 300) });
  for (const [xmlns, fields] of [
    ["status", { about: "Open until six" }],
    ["w:profile:picture", { picture_url: host.url("/shop.png") }],
  ] as const) {
    await sim.faults.rateOverlimit({ number: SHOP, device: 1, of: { xmlns, type: "set" } });
    const refused = await change(world, fields);
    expect(refused).toMatchObject({
      status: 429,
      body: {
        message: "WhatsApp wants fewer changes of the profile. Wait five minutes.",
        errors: { code: "RATE_LIMITED" },
      },
    });
    expect(refused.headers.get("retry-after")).toBe("300");
  }
  expect([await sim.about(SHOP), await sim.picture(SHOP)]).toEqual(["", null]);
  const both = await change(world, { about: "Open until six", picture_url: host.url("/shop.png") });
  expect(both.status).toBe(200);
  expect(await sim.about(SHOP)).toBe("Open until six");
  expect(await sizeOf(await sim.picture(SHOP))).toMatchObject({ width: 300, height: 300 });
});
