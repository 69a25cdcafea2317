import { createClient } from "@libsql/client";
import { expect, it, onTestFinished } from "vitest";
import { runGateway, startGateway } from "../_setup/gateway.ts";
import { nodeServices } from "../_setup/node-services.ts";
import { findSqld } from "../_setup/sqld.ts";
import { ANA, openShop, SHOP, temporaryFolder } from "./shop.ts";

it.skipIf(findSqld() === null)(
  "one process may use a libSQL server alone: a second one does not start, and the next one of its own folder need not wait",
  { timeout: 240_000 },
  async () => {
    const services = await nodeServices();
    onTestFinished(() => services.end());
    const { CLUSTER: _, REDIS_URL: __, ...alone } = services.env;
    const world = await openShop({ env: alone });
    const { gateway, sim } = world;
    await sim.sendText(ANA, SHOP, "before");
    const direct = createClient({ url: alone["DATABASE_URL"]! });
    onTestFinished(() => direct.close());

    const [second, node] = await Promise.all([runGateway({ env: alone }), runGateway({ env: services.env })]);
    for (const { code, stderr, stdout } of [second, node]) {
      const said = `${stdout}\n\nThe first one:\n${gateway.output()}`;
      expect(code, said).toBe(1);
      expect(stderr, said).toMatch(
        /^parley: Another Parley, on \S+, uses the database of DATABASE_URL: stop it/,
      );
    }
    // Nothing of it is asked of the lease table.
    expect(
      (await direct.execute("SELECT count(*) AS n FROM leases WHERE node IS NOT NULL")).rows[0]!["n"],
    ).toBe(0);

    await gateway.kill();
    await gateway.restart();
    await world.online(SHOP);
    await gateway.stop();
    expect((await direct.execute("SELECT 1 FROM meta WHERE key = 'sole_use'")).rows).toEqual([]);

    // Ended in order: another folder, or a node, may use it at once. Then a lone one may not.
    const cluster = await startGateway({ dataDir: temporaryFolder(), env: services.env });
    const lone = await runGateway({ env: alone });
    expect(lone.code).toBe(1);
    expect(lone.stderr).toMatch(/belongs to a cluster that runs \(\S+\): set CLUSTER=1 to join it/);
    await cluster.dispose();
  },
);

it.skipIf(findSqld() === null)(
  "a process that finds another in its place ends",
  { timeout: 240_000 },
  async () => {
    const services = await nodeServices();
    onTestFinished(() => services.end());
    const { CLUSTER: _, REDIS_URL: __, ...alone } = services.env;
    const { gateway } = await openShop({ env: alone });
    const direct = createClient({ url: alone["DATABASE_URL"]! });
    onTestFinished(() => direct.close());

    await direct.execute(
      `UPDATE meta SET value = json_object('user', 'another', 'host', 'elsewhere', 'at', unixepoch() * 1000) WHERE key = 'sole_use'`,
    );

    expect((await gateway.exited()).code).toBe(1);
    expect(gateway.output()).toContain("another process uses the database of DATABASE_URL; this one ends");
  },
);
