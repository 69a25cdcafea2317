import { expect, it } from "vitest";
import { openWorld, until, type World } from "../_setup/world.ts";
import { judge } from "../../src/demo/judge/judge.ts";

const SHOP = "31600000001";
const CONTACTS = 40;
const EACH = 3;

/** Everybody writes at the same time, each contact one message after another. */
async function writeAll({ sim }: World, people: string[]): Promise<void> {
  await Promise.all(
    people.map(async (person) => {
      for (let i = 0; i < EACH; i++) await sim.sendText(person, SHOP, `message ${i}`);
    }),
  );
}

async function judgeOrder(world: World): Promise<string[]> {
  await until(async () => (await world.sim.pending(SHOP)) === 0, 60_000);
  await world.gateway.stop();
  const verdict = await judge({ sim: world.sim, dataDir: world.gateway.dataDir }, { numbers: [SHOP] });
  expect(verdict.messages).toBeGreaterThanOrEqual(CONTACTS * EACH);
  return verdict.problems;
}

it("the first messages of new contacts are stored in the order in which they came", async () => {
  const world = await openWorld();
  await world.link(SHOP);
  const people = await world.sim.addContacts(CONTACTS, { prefix: "49155" });
  await world.sim.faults.holdDeliveries({ number: SHOP });
  await writeAll(world, people);
  await world.sim.faults.releaseDeliveries({ number: SHOP });

  expect(await judgeOrder(world)).toEqual([]);
}, 180_000);

it("what is written while the offline queue is worked off comes after it", async () => {
  // Each message's way is drawn: they share one queue per chat.
  const world = await openWorld({ env: { EVERYDAY_MIX: "order" } });
  await world.link(SHOP);
  const people = await world.sim.addContacts(CONTACTS, { prefix: "49155" });
  await world.gateway.kill();
  await writeAll(world, people);
  await world.gateway.restart();
  await world.sim.waitOnline(SHOP);
  await writeAll(world, people);

  expect(await judgeOrder(world)).toEqual([]);
}, 180_000);
