import { expect, it } from "vitest";
import { startFileHost } from "../_setup/files.ts";
import { startReceiver, type Receiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";
import { png } from "../unit/media/samples.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";

/** A number whose webhook answers so. */
async function openShop(answer: Receiver["answer"]): Promise<World & { receiver: Receiver }> {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
  const receiver = await startReceiver(answer);
  await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key: world.key });
  return { ...world, receiver };
}

const record = async ({ gateway, key }: World, id: string) =>
  (await gateway.get(`/messages/${id}`, { key })).body.data;

/** What became of the answer about a message. */
async function replyTo({ gateway, key }: World, id: string): Promise<{ ids: string[]; ignored: string[] }> {
  let delivery: { id: string; state: string } | undefined;
  await until(async () => {
    [delivery] = (await gateway.get(`/deliveries?message_id=${id}`, { key })).body.data;
    return delivery?.state === "delivered";
  });
  return (await gateway.get(`/deliveries/${delivery!.id}`, { key })).body.data.reply;
}

it("a reply with send_at waits as a scheduled message, and leaves at its time", async () => {
  const times = { soon: 0, later: 0 };
  const world = await openShop(() => {
    times.soon = Math.floor(Date.now() / 1_000) + 5;
    times.later = times.soon + 3_600;
    const later = { text: "Much later", send_at: new Date(times.later * 1_000).toISOString() };
    return [{ text: "Soon", send_at: times.soon }, later, { text: "Now" }];
  });
  const { sim, gateway, key } = world;
  const asked = await sim.sendText(ANA, SHOP, "When?");
  const { ids, ignored } = await replyTo(world, asked.id);
  expect(ignored).toEqual([]);
  const [soon, later, now] = ids as [string, string, string];
  const list = (await gateway.get(`/scheduled?sender=${SHOP}`, { key })).body.data;
  expect(list).toContainEqual(
    expect.objectContaining({ id: later, message: "Much later", state: "scheduled" }),
  );
  expect(await record(world, later)).toMatchObject({
    state: "scheduled",
    send_at: new Date(times.later * 1_000).toISOString(),
  });
  await sim.waitForMessage(ANA, { id: now, text: "Now" });

  const arrived = await sim.waitForMessage(ANA, { id: soon, text: "Soon" });
  expect(arrived.at).toBeGreaterThanOrEqual(times.soon * 1_000);
  await until(async () => (await record(world, soon)).state === "delivered");
  const { history } = await record(world, soon);
  expect(history.map(({ state }: { state: string }) => state)).toEqual([
    "scheduled",
    "queued",
    "sent",
    "delivered",
  ]);
  expect(await gateway.delete(`/messages/${later}`, { key })).toMatchObject({
    status: 200,
    body: { state: "cancelled" },
  });
});

it("keeps a reply back whose send_at is over, too far, or none, and says so", async () => {
  const far = new Date(Date.now() + 366 * 24 * 3_600_000).toISOString();
  const world = await openShop([
    { text: "never", send_at: "2020-01-01T00:00:00Z" },
    { text: "never", send_at: far },
    { text: "never", send_at: "tomorrow" },
    { text: "never", send_at: "2030-01-31T12:00:00" },
    { text: "never", send_at: Math.floor(Date.now() / 1_000) + 3_600, expires: "2020-01-01T00:00:00Z" },
    { text: "sent" },
  ]);
  const { sim } = world;
  const asked = await sim.sendText(ANA, SHOP, "When?");
  const { ids, ignored } = await replyTo(world, asked.id);
  await sim.waitForMessage(ANA, { text: "sent" });
  expect(ids).toHaveLength(1);
  expect(ignored).toEqual([
    "replies[2]: send_at cannot be read",
    "replies[3]: send_at cannot be read",
    expect.stringMatching(/INVALID_PARAMETERS: .* send_at: Is over\./),
    expect.stringMatching(/TIME_NOT_USABLE: .* send_at: Is more than 365 days ahead\./),
    expect.stringMatching(/TIME_NOT_USABLE: .* expires: Is before send_at\./),
  ]);
  expect((await sim.transcript({ contact: ANA, direction: "to_contact" })).map(({ text }) => text)).toEqual([
    "sent",
  ]);
});

it("mentions everybody of a group, and lets a picture be opened once", async () => {
  const files = await startFileHost({ "/a.png": png(40, 20) });
  const picture = { media_type: "image", url: files.url("/a.png"), caption: "Once", view_once: true };
  const world = await openShop([{ text: "Everybody!", mention_all: true }, picture]);
  const { sim } = world;
  const { id: group } = await sim.addGroup({ subject: "Team", creator: ANA, members: [ANA, BEN, SHOP] });
  const asked = await sim.sendText(ANA, group, "Who comes?");
  const { ignored } = await replyTo(world, asked.id);
  expect(ignored).toEqual([]);
  for (const member of [ANA, BEN]) {
    const shouted = await sim.waitForMessage(member, { text: "Everybody!" });
    expect(shouted).toMatchObject({ chat: group });
    expect(shouted.mentions).toHaveLength(3);
    const once = await sim.waitForMessage(member, { kind: "image" });
    expect(once).toMatchObject({ chat: group, text: "Once", viewOnce: true });
    expect((await sim.mediaOf(member, once.id)).bytes.length).toBeGreaterThan(0);
  }
});

it("lets a reply expire that has not left by then, and sends the one that may wait longer", async () => {
  let offline = async (): Promise<void> => undefined;
  const world = await openShop(async () => {
    await offline();
    return [
      { text: "Too late", expires: 1 },
      { text: "In time", expires: "3600" },
    ];
  });
  const { sim } = world;
  offline = async () => {
    await sim.faults.refuseUpgrade({ status: 503, times: 1_000 });
    await sim.faults.dropSocket({ number: SHOP });
    await until(async () => !(await sim.online(SHOP)));
  };
  const asked = await sim.sendText(ANA, SHOP, "Now?");
  const { ids, ignored } = await replyTo(world, asked.id);
  expect([ids.length, ignored]).toEqual([2, []]);
  await until(async () => (await record(world, ids[0]!)).state === "expired");
  expect(await record(world, ids[1]!)).toMatchObject({ state: "queued" });
  await sim.faults.clear();
  await sim.waitForMessage(ANA, { id: ids[1]!, text: "In time" }, 90_000);
  expect(await sim.messages(ANA, { id: ids[0]! })).toEqual([]);
});
