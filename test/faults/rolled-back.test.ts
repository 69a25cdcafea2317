import { createClient } from "@libsql/client";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { nodeServices } from "../_setup/node-services.ts";
import { findSqld } from "../_setup/sqld.ts";
import { until } from "../_setup/world.ts";
import { ANA, openShop, send, SHOP, temporaryFolder } from "./shop.ts";

it(
  "a database of an earlier time is noticed: what would be used twice is forgotten, the operator is told, and everything goes on",
  { timeout: 240_000 },
  async () => {
    const world = await openShop();
    const { gateway, sim } = world;
    const file = join(gateway.dataDir, "parley.db");
    const earlier = join(temporaryFolder(), "parley.db");
    await sim.sendText(ANA, SHOP, "before");
    await send(world, ANA, "one");
    await sim.waitForMessage(ANA, { from: SHOP, text: "one" });
    await sim.settle();

    await gateway.stop();
    cpSync(file, earlier);
    await gateway.restart();
    await world.online(SHOP);
    for (const text of ["two", "three"]) {
      await send(world, ANA, text);
      await sim.waitForMessage(ANA, { from: SHOP, text });
      await sim.sendText(ANA, SHOP, `after ${text}`);
    }
    await sim.settle();
    await gateway.stop();
    expect(gateway.output()).not.toContain("older than this gateway");

    cpSync(earlier, file);
    await gateway.restart();
    await world.online(SHOP);
    for (const text of ["four", "five"]) await send(world, ANA, text);
    await sim.sendText(ANA, SHOP, "still there?");
    await sim.waitForMessage(ANA, { from: SHOP, text: "five" }, 30_000);
    await until(async () => (await sim.pending(SHOP)) === 0);

    const read = (await sim.messages(ANA, { from: SHOP })).map(({ text }) => text);
    expect(read).toEqual(["one", "two", "three", "four", "five"]);
    expect(gateway.output().match(/the database is older than this gateway's last run/g)).toHaveLength(1);
    // Known: the next start finds nothing new.
    await gateway.restart();
    await world.online(SHOP);
    expect(gateway.output().match(/the database is older than this gateway's last run/g)).toHaveLength(1);
  },
);

it.skipIf(findSqld() === null)(
  "a server that has lost what it had confirmed ends the gateway, and the next start makes up for it",
  { timeout: 240_000 },
  async () => {
    const services = await nodeServices();
    onTestFinished(() => services.end());
    const world = await openShop({ env: services.env });
    const { gateway, sim } = world;
    await sim.sendText(ANA, SHOP, "before");
    await send(world, ANA, "one");
    await sim.waitForMessage(ANA, { from: SHOP, text: "one" });
    await sim.settle();

    const direct = createClient({ url: services.env["DATABASE_URL"]! });
    await direct.execute("UPDATE commit_fences SET seq = seq - 1");
    direct.close();
    const { code } = await gateway.exited();

    expect(code).toBe(1);
    expect(gateway.output()).toContain("has lost confirmed commits");
    await gateway.restart();
    await world.online(SHOP);
    expect(gateway.output()).toContain("the database is older than this gateway's last run");
    await send(world, ANA, "two");
    await sim.waitForMessage(ANA, { from: SHOP, text: "two" }, 30_000);
    await sim.sendText(ANA, SHOP, "still there?");
    await until(async () => (await sim.pending(SHOP)) === 0);
  },
);
