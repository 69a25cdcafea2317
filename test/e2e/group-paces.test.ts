import { expect, it } from "vitest";
import { openWorld } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";

it("lets a number create 20 groups a day, add 50 people and join 10 groups an hour, over a restart, and asks WhatsApp nothing beyond that", async () => {
  const world = await openWorld({ again: true });
  const { sim, gateway, key } = world;
  await world.link(SHOP);
  await sim.addContact(ANA, { name: "Ana" });
  const post = (path: string, fields: object) =>
    gateway.post(`/groups/${path}`, { sender: SHOP, ...fields }, { key });
  const create = () => post("create", { name: "Team", participants: [ANA] });
  const asked = () => sim.countStanzas({ number: SHOP, device: 1, direction: "in", xmlns: "w:g2" });
  async function expectLimited(asking: ReturnType<typeof post>, seconds: number): Promise<void> {
    const answer = await asking;
    expect(answer).toMatchObject({ status: 429, body: { errors: { code: "RATE_LIMITED" } } });
    const wait = Number(answer.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(seconds - 300);
    expect(wait).toBeLessThanOrEqual(seconds);
  }

  const { id } = (await create()).body.data;
  for (let made = 1; made < 20; made++) expect((await create()).status).toBe(200);
  const nobody = (from: number, count: number) => ({
    action: "add",
    numbers: Array.from({ length: count }, (_, index) => String(4917000000000 + from + index)),
  });
  expect((await post(`${id}/participants`, nobody(0, 45))).status).toBe(200);
  for (let tried = 0; tried < 10; tried++)
    expect((await post("join", { invite: "AAAAAAAAAAAAAAAAAAAAAA" })).status).toBe(400);
  await gateway.restart();
  await world.online(SHOP);

  const before = await asked();
  await expectLimited(create(), 24 * 60 * 60);
  await expectLimited(post(`${id}/participants`, nobody(100, 6)), 60 * 60);
  await expectLimited(post("join", { invite: "AAAAAAAAAAAAAAAAAAAAAA" }), 60 * 60);
  expect(await asked()).toBe(before);
  // What is left, and what nobody is blocked for, still works.
  expect((await post(`${id}/participants`, nobody(100, 5))).status).toBe(200);
  expect((await post(`${id}/participants`, { action: "remove", numbers: [ANA] })).status).toBe(200);
});

it("passes on that WhatsApp wants fewer changes of groups, with Retry-After, and changes nothing", async () => {
  const world = await openWorld({ again: true });
  const { sim, gateway, key } = world;
  await world.link(SHOP);
  await sim.addContact(ANA, { name: "Ana" });
  await sim.addContact(BEN, { name: "Ben" });
  const post = (path: string, fields: object) =>
    gateway.post(`/groups/${path}`, { sender: SHOP, ...fields }, { key });
  const { id } = (await post("create", { name: "Team", participants: [ANA] })).body.data;
  const { id: open } = await sim.addGroup({ subject: "Open", creator: ANA, members: [ANA] });
  const { inviteLink } = await sim.group(open);
  const groups = async (): Promise<Record<string, any>[]> =>
    (await post("", { refresh: "1" })).body.data ?? [];

  const asking: [string, () => ReturnType<typeof post>][] = [
    ["create", () => post("create", { name: "Second", participants: [ANA] })],
    ["change", () => gateway.patch(`/groups/${id}`, { sender: SHOP, name: "Crew" }, { key })],
    ["add", () => post(`${id}/participants`, { action: "add", numbers: [BEN] })],
    ["join", () => post("join", { invite: inviteLink })],
  ];
  for (const [what, ask] of asking) {
    await sim.faults.rateOverlimit({ number: SHOP, device: 1, of: { xmlns: "w:g2", type: "set" } });
    const { status, headers, body } = await ask();
    expect([what, status, body["errors"]?.code]).toEqual([what, 429, "RATE_LIMITED"]);
    expect([what, headers.get("retry-after"), body["message"]]).toEqual([
      what,
      "300",
      "WhatsApp wants fewer changes of groups. Wait five minutes.",
    ]);
  }
  expect((await sim.group(id)).subject).toBe("Team");
  expect((await sim.group(id)).members.map(({ number }) => number).toSorted()).toEqual(
    [SHOP, ANA].toSorted(),
  );
  expect((await sim.group(open)).members.map(({ number }) => number)).toEqual([ANA]);
  expect((await groups()).map(({ name }) => name)).toEqual(["Team"]);
  // Once WhatsApp allows it again, each of them works.
  for (const [what, ask] of asking) expect([what, (await ask()).status]).toEqual([what, 200]);
  expect((await sim.group(id)).subject).toBe("Crew");
});
