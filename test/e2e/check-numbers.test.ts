import { expect, it } from "vitest";
import { openWorld, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const NOBODY = "4915199999999";
const CHECKED = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

async function openShop(): Promise<
  World & { check(numbers: unknown): ReturnType<World["gateway"]["post"]> }
> {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben" });
  const { gateway, key } = world;
  return { ...world, check: (numbers) => gateway.post("/check-numbers", { sender: SHOP, numbers }, { key }) };
}

const questions = ({ sim }: World): Promise<number> =>
  sim.countStanzas({ number: SHOP, device: 1, direction: "in", tag: "iq", xmlns: "usync" });

it("tells who is on WhatsApp, in the order of the request, and keeps it", async () => {
  const shop = await openShop();
  const before = await questions(shop);
  const first = await shop.check([`+${ANA.slice(0, 2)} ${ANA.slice(2)}`, NOBODY, ANA]);
  expect(first.status).toBe(200);
  expect(first.body).toMatchObject({
    status: true,
    total: 2,
    data: [
      { number: ANA, exists: true, lid: expect.stringMatching(/^\d+@lid$/), checked_at: CHECKED },
      { number: NOBODY, exists: false, lid: null, checked_at: CHECKED },
    ],
  });
  const asked = await questions(shop);
  expect(asked - before).toBe(1);

  const again = await shop.check([NOBODY, ANA]);
  expect(again.body.data).toEqual([first.body.data[1], first.body.data[0]]);
  expect(await questions(shop)).toBe(asked);
  // What it learned of LIDs holds for whoever writes under one.
  const lid = first.body.data[0].lid;
  expect(
    (await shop.gateway.post("/resolve-lid", { sender: SHOP, lid }, { key: shop.key })).body,
  ).toMatchObject({
    number: ANA,
  });
});

it("refuses what would be more than 500 questions an hour, whole, and over a restart; kept answers stay free", async () => {
  const shop = await openShop();
  const strangers = Array.from({ length: 500 }, (_, index) => `4917000000${String(index).padStart(3, "0")}`);
  for (let from = 0; from < 450; from += 50) {
    const answer = await shop.check(strangers.slice(from, from + 50));
    expect([answer.status, answer.body.data.length]).toEqual([200, 50]);
  }
  expect((await shop.check([...strangers.slice(450, 499), ANA])).status).toBe(200);
  const before = await questions(shop);
  await shop.gateway.restart();
  await shop.online(SHOP);

  const refused = await shop.check([BEN]);
  expect(refused).toMatchObject({ status: 429, body: { errors: { code: "RATE_LIMITED" } } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await shop.check([ANA])).body.data).toMatchObject([{ exists: true }]);
  expect(await questions(shop)).toBe(before);
});

it("passes WhatsApp's own refusal on, and names every field that is wrong", async () => {
  const shop = await openShop();
  await shop.sim.faults.rateOverlimit({ number: SHOP, of: { xmlns: "usync", context: "interactive" } });
  const limited = await shop.check([ANA]);
  expect(limited).toMatchObject({ status: 429, body: { errors: { code: "RATE_LIMITED" } } });
  expect(limited.headers.get("retry-after")).toBe("300");
  expect((await shop.check(ANA)).body.data).toMatchObject([{ number: ANA, exists: true }]);

  for (const numbers of [[], ["12"], Array.from({ length: 51 }, () => ANA), undefined])
    expect(await shop.check(numbers)).toMatchObject({
      status: 400,
      body: { errors: { code: "INVALID_PARAMETERS" } },
    });
});
