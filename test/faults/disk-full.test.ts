import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startFileHost } from "../_setup/files.ts";
import { until, type World } from "../_setup/world.ts";
import { pdf } from "../unit/media/samples.ts";
import { ANA, BEN, botsFolder, idsPerText, openShop, send, SHOP } from "./shop.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";

const ECHO = `export default (b) => b.match(/.*/, (ctx) => ctx.reply("echo: " + ctx.text));`;

/** A gateway on a disk of its own, with its ballast. */
async function openShopOnSmallDisk(): Promise<{ world: World; disk: SmallDisk; ballast: string }> {
  const disk = mountSmallDisk(96);
  const dataDir = join(disk.folder, "data");
  const world = await openShop({ dataDir, env: { BOTS_DIR: botsFolder({ echo: ECHO }) } });
  const ballast = join(dataDir, "ballast");
  await until(() => existsSync(ballast));
  return { world, disk, ballast };
}

const isReady = async ({ gateway }: World): Promise<boolean> =>
  (await gateway.get("/health/ready")).status === 200;

/** Sends until the gateway has noticed; a disk may be full for a while before something new has to be written. */
async function fillUntilNoticed(world: World, disk: SmallDisk): Promise<void> {
  let n = 0;
  disk.fill();
  await until(async () => {
    const answer = await send(world, BEN, `filling ${n++}`);
    return answer.status === 503;
  }, 60_000);
}

it(
  "a full disk: no receipt, a closed line, 503 with Retry-After; with room again everything goes on by itself",
  { timeout: 240_000 },
  async () => {
    const { world, disk, ballast } = await openShopOnSmallDisk();
    const { gateway, sim } = world;
    await sim.sendText(ANA, SHOP, "before");
    await sim.waitForMessage(ANA, { from: SHOP, text: "echo: before" }, 30_000);

    await fillUntilNoticed(world, disk);
    // The ballast was given back, and is room for what erases; now the rest of the disk is taken as well.
    await until(() => !existsSync(ballast));
    disk.fill();
    const refused = await send(world, ANA, "refused");
    expect(refused).toMatchObject({ status: 503, body: { status: false, errors: { code: "UNAVAILABLE" } } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await gateway.get("/health/ready")).body).toMatchObject({
      status: false,
      checks: { database: false, disk: false },
    });
    expect((await gateway.get("/health/live")).status).toBe(200);
    for (const text of ["one", "two", "three"]) await sim.sendText(ANA, SHOP, text);
    await until(async () => !(await sim.online(SHOP)) || gateway.output().includes("could not store data"));
    // Receipts of what was sent before wait as well.
    expect(await sim.pending(SHOP)).toBeGreaterThanOrEqual(3);
    expect(gateway.output().match(/the disk of the database .* is full/g)).toHaveLength(1);

    disk.free();
    await until(() => isReady(world), 60_000);
    await world.online(SHOP, 90_000);
    await sim.waitForMessage(ANA, { from: SHOP, text: "echo: three" }, 60_000);
    await until(() => existsSync(ballast));
    await sim.settle();

    await until(async () => (await sim.pending(SHOP)) === 0);
    expect(await idsPerText(world, ANA)).toEqual({
      "echo: before": 1,
      "echo: one": 1,
      "echo: two": 1,
      "echo: three": 1,
    });
    expect((await send(world, ANA, "after")).body).toMatchObject({ status: true });
  },
);

it(
  "a disk that is full at the start: starts, says so, and goes on when there is room",
  { timeout: 240_000 },
  async () => {
    const { world, disk, ballast } = await openShopOnSmallDisk();
    const { gateway, sim } = world;
    await gateway.kill();
    await sim.sendText(ANA, SHOP, "meanwhile");
    disk.fill();

    const restarted = gateway.restart();
    await until(() => gateway.output().includes("is full"));
    disk.free();
    await restarted;

    await sim.waitForMessage(ANA, { from: SHOP, text: "echo: meanwhile" }, 90_000);
    await until(() => existsSync(ballast));
    expect(await idsPerText(world, ANA)).toEqual({ "echo: meanwhile": 1 });
  },
);

it("while the disk is full a number can still be erased", { timeout: 240_000 }, async () => {
  const { world, disk, ballast } = await openShopOnSmallDisk();
  const { gateway, key } = world;
  await fillUntilNoticed(world, disk);
  // Which is room for what erases.
  await until(() => !existsSync(ballast));

  const removed = await gateway.delete(`/devices/${SHOP}`, { key });

  expect(removed.status).toBeLessThan(300);
  expect((await gateway.get("/devices", { key })).body["data"]).toEqual([]);
});

it(
  "a media folder without room: 503 for the file, nothing left behind, and the next one goes out",
  { timeout: 240_000 },
  async () => {
    const { world, disk } = await openShopOnSmallDisk();
    const { gateway, sim, key } = world;
    const file = Buffer.concat([pdf(), Buffer.alloc(8 * 1024 * 1024, 32)]);
    const host = await startFileHost({ "/a.pdf": file });
    const sendFile = () =>
      gateway.post(
        "/send-media",
        { sender: SHOP, number: ANA, media_type: "pdf", url: host.url("/a.pdf") },
        { key },
      );
    disk.fill();

    const refused = await sendFile();

    expect(refused).toMatchObject({ status: 503, body: { status: false, errors: { code: "UNAVAILABLE" } } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const left = ["media", "tmp"].flatMap((name) =>
      readdirSync(join(gateway.dataDir, name), { recursive: true, encoding: "utf8" }),
    );
    expect(left.filter((name) => name !== "in")).toEqual([]);

    disk.free();
    await until(() => isReady(world), 60_000);
    await world.online(SHOP, 90_000);
    expect((await sendFile()).body).toMatchObject({ status: true });
    await sim.waitForMessage(ANA, { from: SHOP }, 60_000);
  },
);
