import { expect, it } from "vitest";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";
const DAY_MS = 24 * 60 * 60 * 1000;

async function openShop() {
  const world = await openWorld({
    env: { WARM_UP: "on", PACE_PER_MINUTE: "0", SEND_WAIT_MS: "1000" },
  });
  const { sim, gateway, key } = world;
  await world.link(SHOP);
  return {
    world,
    strangers: await sim.addContacts(22, { prefix: "49151" }),
    knower: (await sim.addContacts(1, { prefix: "49152" }))[0]!,
    why: async (): Promise<Record<string, any>> =>
      (await gateway.get(`/devices/${SHOP}/why`, { key })).body.data,
    send: (number: string, message = "Hello", fields: object = {}) =>
      gateway.post("/send-message", { sender: SHOP, number, message, ...fields }, { key }),
    stateOf: async (id: string): Promise<string> =>
      (await gateway.get(`/messages/${id}`, { key })).body.data.state,
    async wrote(number: string, text: string): Promise<void> {
      const { id } = await sim.sendText(number, SHOP, text);
      await until(async () => (await gateway.get(`/messages/${id}`, { key })).status === 200);
    },
    heard: async (number: string) => (await sim.messages(number)).map(({ text }) => text),
  };
}

it("with WARM_UP=on, a number that was just linked writes to 20 strangers, and the next one waits, over a restart", async () => {
  const linkedFrom = Date.now();
  const { world, strangers, knower, why, send, stateOf, wrote, heard } = await openShop();
  const { sim, gateway } = world;
  for (const from of [0, 10])
    expect((await send(strangers.slice(from, from + 10).join("|"))).body["status"]).toBe(true);
  for (const number of strangers.slice(0, 20)) await sim.waitForMessage(number, { text: "Hello" });
  const [late, later] = [strangers[20]!, strangers[21]!];
  const held = await send(late);
  expect(held).toMatchObject({ status: 202, body: { status: true, state: "queued" } });

  const told = await why();
  expect(told).toMatchObject({
    state: "connected",
    reason: null,
    warm_up: { day: 1, limit: 20, used: 20 },
  });
  const { resets_at: resetsAt } = told["warm_up"];
  expect(Date.parse(resetsAt)).toBeGreaterThan(linkedFrom + DAY_MS - 5_000);
  expect(Date.parse(resetsAt)).toBeLessThanOrEqual(Date.now() + DAY_MS);
  for (const part of ["day 1 of 10", "20 people", resetsAt]) expect(told["advice"]).toContain(part);

  // Somebody who wrote is answered, and those who know the number hear more of it.
  await wrote(knower, "Are you open?");
  for (const number of [knower, strangers[0]!]) {
    const { body } = await send(number, "Until six");
    await sim.waitForMessage(number, { id: body["results"][0].id });
  }

  // A restart gives nothing back.
  await gateway.restart();
  await world.online(SHOP);
  const short = await send(later, "Hello", { expires: 2 });
  await until(async () => (await stateOf(short.body["results"][0].id)) === "expired");
  expect((await why())["warm_up"]).toMatchObject({ day: 1, limit: 20, used: 20 });
  expect(await stateOf(held.body["id"])).toBe("queued");
  expect([await heard(late), await heard(later)]).toEqual([[], []]);

  // Who writes first is a stranger no more: what was held leaves before the answer.
  await wrote(late, "Who is it?");
  const reply = await send(late, "The shop");
  await sim.waitForMessage(late, { id: reply.body["results"][0].id });
  expect(await heard(late)).toEqual(["Hello", "The shop"]);
  expect((await why())["warm_up"]).toMatchObject({ used: 20 });
});
