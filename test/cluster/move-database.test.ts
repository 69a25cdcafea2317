import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { command } from "../_setup/command.ts";
import { nodeServices } from "../_setup/node-services.ts";
import { findSqld } from "../_setup/sqld.ts";
import { openWorld, until } from "../_setup/world.ts";
import { temporaryFolder } from "../unit/store/temporary.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

it.skipIf(findSqld() === null)(
  "a number that was linked on a file answers on a server without being linked again, and back",
  async () => {
    const dataDir = temporaryFolder();
    const services = await nodeServices();
    onTestFinished(services.end);
    const { DATABASE_URL: server, CLUSTER: _, ...asNode } = services.env;
    const { PARLEY_MASTER_KEY } = asNode;
    const { sim, gateway, key, ...world } = await openWorld({
      dataDir,
      env: { ...asNode, DATABASE_URL: "" },
    });
    await sim.addContact(ANA, { name: "Ana" });
    await world.link(SHOP);
    await world.bindBots(SHOP, "ping");
    const isAnswered = async (): Promise<void> => {
      const before = (await sim.messages(ANA)).length;
      await sim.sendText(ANA, SHOP, "Ping!");
      await until(async () => (await sim.messages(ANA)).length === before + 1);
    };
    const move = (...args: string[]): Promise<string> =>
      command(
        { env: { DATA_DIR: dataDir, PARLEY_MASTER_KEY: PARLEY_MASTER_KEY! } },
        "move-database",
        ...args,
      );
    await isAnswered();

    await gateway.stop();
    const said = await move("--to", server!);
    expect(said).toContain("every row was compared");
    expect(said).not.toContain(PARLEY_MASTER_KEY);
    await gateway.restart({ DATABASE_URL: server!, CLUSTER: "1" });
    await world.online(SHOP);
    await isAnswered();

    await gateway.stop();
    await move("--from", server!, "--to", `file:${join(dataDir, "parley.db")}`, "--replace");
    await gateway.restart({ DATABASE_URL: "", CLUSTER: "" });
    await world.online(SHOP);
    await isAnswered();
    expect((await gateway.get("/messages", { key })).body.data).toHaveLength(6);
  },
);
