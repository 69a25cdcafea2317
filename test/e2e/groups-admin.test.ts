import { expect, it } from "vitest";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";
const SHY = "4915100000003";
const EVE = "4915100000004";

async function openShop(): Promise<World> {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  await world.sim.addContact(SHY, { name: "Shy", refusesGroups: true });
  await world.sim.addContact(EVE, { name: "Eve" });
  return world;
}

const post = ({ gateway, key }: World, path: string, fields: object = {}) =>
  gateway.post(`/groups/${path}`, { sender: SHOP, ...fields }, { key });
const look = async ({ gateway, key }: World, id: string) =>
  (await gateway.get(`/groups/${id}?sender=${SHOP}`, { key })).body.data;
const memberNumbers = (group: { members: { number: string | null }[] }) =>
  group.members.map(({ number }) => number).toSorted();

it("is made, looked at, and changed, as its members see it", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const wanted = { name: " Regulars ", description: "For those who come often", invite: true };
  const made = await post(world, "create", { ...wanted, participants: [ANA, `+${BEN}`, SHY] });
  expect(made).toMatchObject({
    status: 200,
    body: {
      data: {
        name: "Regulars",
        description: wanted.description,
        is_admin: true,
        can_send: true,
        owner: SHOP,
      },
      results: [
        { number: ANA, added: true },
        { number: BEN, added: true },
        { number: SHY, added: false, reason: "not_allowed", invite: expect.any(String) },
      ],
    },
  });
  const { id } = made.body.data;
  expect(await sim.group(id)).toMatchObject({ subject: "Regulars", description: wanted.description });
  expect(memberNumbers(made.body.data)).toEqual([SHOP, ANA, BEN].toSorted());
  const invitation = await sim.waitForMessage(SHY, { id: made.body.results[2].invite });
  expect(invitation.text).toMatch(/^https:\/\/chat\.whatsapp\.com\/\w+$/);

  const settings = { announce: true, locked: true, join_approval: true, disappearing: 86_400 };
  const changed = await gateway.patch(
    `/groups/${id}`,
    { sender: SHOP, name: "Friends", description: "", ...settings },
    { key },
  );
  expect(changed).toMatchObject({
    status: 200,
    body: { data: { name: "Friends", description: "", ...settings, only_admins: true, community: null } },
  });
  expect(await sim.group(id)).toMatchObject({ subject: "Friends", announce: true, locked: true });
  expect(await look(world, id)).toEqual(changed.body.data);
  const sent = { sender: SHOP, number: id, message: "Welcome" };
  const { body } = await gateway.post("/send-message", sent, { key });
  expect(await sim.waitForMessage(ANA, { id: body.id })).toMatchObject({ text: "Welcome", chat: id });
});

it("gets members, loses them, and has admins", async () => {
  const world = await openShop();
  const { sim } = world;
  const { id } = (await post(world, "create", { name: "Team", participants: ANA })).body.data;
  const change = (action: string, ...numbers: string[]) =>
    post(world, `${id}/participants`, { action, numbers });
  expect((await change("add", BEN, ANA, SHY, "4915100000099")).body.results).toEqual([
    { number: BEN, status: true },
    { number: ANA, status: false, error: "already_member" },
    { number: SHY, status: false, error: "not_allowed" },
    { number: "4915100000099", status: false, error: "not_found" },
  ]);
  expect((await change("promote", BEN)).body.results).toEqual([{ number: BEN, status: true }]);
  const admins = (await look(world, id)).members.filter(({ admin }: { admin: boolean }) => admin);
  expect(admins.map(({ number }: { number: string }) => number).toSorted()).toEqual([SHOP, BEN].toSorted());
  expect((await change("remove", ANA)).body.results).toEqual([{ number: ANA, status: true }]);
  expect(memberNumbers(await look(world, id))).toEqual([SHOP, BEN].toSorted());
  expect((await change("dance", ANA)).status).toBe(400);
  expect((await change("add", ...Array.from({ length: 51 }, (_, n) => `49151${10_000 + n}`))).status).toBe(
    400,
  );

  expect(await post(world, `${id}/leave`)).toMatchObject({ status: 200, body: { id } });
  expect((await sim.group(id)).members.map(({ number }) => number)).toEqual([BEN]);
  expect((await post(world, `${id}/leave`)).status).toBe(404);
});

it("is joined by a link, at once or when its admins say so", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const { id: open } = await sim.addGroup({ subject: "Open", creator: ANA, members: [ANA] });
  const { id: closed } = await sim.addGroup({
    subject: "Closed",
    creator: ANA,
    members: [ANA],
    approval: true,
  });
  const links = await Promise.all([open, closed].map(async (id) => (await sim.group(id)).inviteLink));
  expect(await post(world, "join", { invite: links[0] })).toMatchObject({
    status: 200,
    body: { id: open, state: "joined" },
  });
  const code = links[1]!.split("/").at(-1);
  expect(await post(world, "join", { invite: code })).toMatchObject({
    status: 202,
    body: { id: closed, state: "requested" },
  });
  expect((await post(world, "join", { invite: "no link" })).status).toBe(400);
  expect(await post(world, "join", { invite: "AAAAAAAAAAAAAAAAAAAAAA" })).toMatchObject({
    status: 400,
    body: { errors: { fields: { invite: expect.anything() } } },
  });

  const { id } = (await post(world, "create", { name: "Ours", participants: [ANA] })).body.data;
  await gateway.patch(`/groups/${id}`, { sender: SHOP, join_approval: true }, { key });
  const { data: first } = (await gateway.get(`/groups/${id}/invite?sender=${SHOP}`, { key })).body;
  expect(first.link).toBe(`https://chat.whatsapp.com/${first.invite}`);
  const { data: second } = (await post(world, `${id}/invite`)).body;
  expect(second.invite).not.toBe(first.invite);
  for (const person of [BEN, EVE]) await sim.changeGroup(id, { join: [person] });
  const asked = await gateway.get(`/groups/${id}/requests?sender=${SHOP}`, { key });
  expect(asked.body.data).toHaveLength(2);
  const decide = (action: string, number: string) =>
    post(world, `${id}/requests`, { action, numbers: [number] });
  expect((await decide("approve", BEN)).body.results).toEqual([{ number: BEN, status: true }]);
  expect((await decide("reject", EVE)).body.results).toEqual([{ number: EVE, status: true }]);
  expect((await decide("approve", EVE)).body.results).toEqual([
    { number: EVE, status: false, error: "not_found" },
  ]);
  await until(async () => memberNumbers(await look(world, id)).includes(BEN));
});

it("is nothing for who is no admin, no member, or has no right to", async () => {
  const world = await openShop();
  const { sim, gateway, key } = world;
  const { id } = await sim.addGroup({ subject: "Theirs", creator: ANA, members: [ANA, BEN, SHOP] });
  const { id: other } = await sim.addGroup({ subject: "Other", creator: ANA, members: [ANA, BEN] });
  const add = (group: string) => post(world, `${group}/participants`, { action: "add", numbers: [EVE] });
  expect(await add(id)).toMatchObject({
    status: 403,
    body: { errors: { code: "CANNOT_SEND", reason: "only_admins" } },
  });
  expect((await add(other)).status).toBe(404);
  expect((await gateway.get(`/groups/${other}?sender=${SHOP}`, { key })).status).toBe(404);
  expect((await add("nogroup")).status).toBe(404);
  const ours = (await post(world, "create", { name: "Ours", participants: [ANA] })).body.data.id;
  const few = { name: "few", permissions: ["*"], recipients: [ANA, ours] };
  const anas = { ...world, key: (await gateway.post("/api-keys", few, { key })).body.api_key as string };
  const notAllowed = { status: 403, body: { errors: { code: "RECIPIENT_NOT_ALLOWED" } } };
  expect(await post(anas, "create", { name: "x", participants: [ANA, EVE] })).toMatchObject(notAllowed);
  expect(await post(anas, `${ours}/participants`, { action: "add", numbers: [EVE] })).toMatchObject(
    notAllowed,
  );
  expect(memberNumbers(await look(world, ours))).toEqual([SHOP, ANA].toSorted());

  const limited = { name: "reader", permissions: ["groups"], recipients: [id] };
  const reader = {
    ...world,
    key: (await gateway.post("/api-keys", limited, { key })).body.api_key as string,
  };
  expect(await look(reader, id)).toMatchObject({ name: "Theirs", is_admin: false });
  expect((await gateway.get(`/groups/${other}?sender=${SHOP}`, { key: reader.key })).status).toBe(404);
  expect(await post(reader, "create", { name: "x", participants: [ANA] })).toMatchObject({
    status: 403,
    body: { errors: { code: "PERMISSION_DENIED", permission: "groups_admin" } },
  });
});
