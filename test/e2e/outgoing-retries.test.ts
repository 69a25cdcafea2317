import { createClient } from "@libsql/client";
import { expect, it, vi } from "vitest";
import { attempts, damageNextFor, sendText, SHOP } from "../_setup/outgoing.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

// Several starts and reconnects, on a machine that is busy with others.
vi.setConfig({ testTimeout: 240_000 });

const ANA = "4915100000001";
const BEN = "4915100000002";
const CARA = "4915100000003";
const DAY_MS = 86_400_000;
const phone = (number: string): string => `${number}@s.whatsapp.net`;

/** What went wrong on purpose is no fault of the client. */
async function unreadable({ sim }: World): Promise<void> {
  await sim.expectViolation("undecryptable", { timeoutMs: 30_000 });
}

it("a text, a poll and a group's message are given again after a restart, when they are older than RETENTION_DAYS", async () => {
  const world = await openWorld({ env: { RETENTION_DAYS: "1" } });
  const { sim, gateway, key } = world;
  await world.link(SHOP);
  await sim.addContact(ANA, { name: "Ana", devices: 2 });
  for (const number of [BEN, CARA]) await sim.addContact(number);
  const group = await sim.addGroup({ subject: "Team", creator: CARA, members: [SHOP, BEN, CARA] });
  await sim.faults.holdDeliveries({ number: SHOP });

  // Ana's second device cannot read it; her phone can.
  damageNextFor(world, `${ANA}:1@s.whatsapp.net`);
  const text = await sendText(world, ANA, "for both devices");
  await unreadable(world);
  damageNextFor(world, phone(BEN));
  const poll = await gateway.post(
    "/send-poll",
    { sender: SHOP, number: BEN, name: "Tea?", option: ["yes", "no"] },
    { key },
  );
  await unreadable(world);
  damageNextFor(world, "everybody");
  const inGroup = await sendText(world, group.id, "to the team");
  await unreadable(world);
  await gateway.stop();
  await age(gateway.databaseUrl, 6 * DAY_MS);

  await gateway.restart();
  await world.online(SHOP);
  await sim.faults.releaseDeliveries({ number: SHOP });

  await until(async () => {
    const entries = await sim.transcript({ id: text.body["id"], contact: ANA });
    return entries.some((entry) => entry.device === 1 && entry.text === "for both devices");
  }, 60_000);
  expect(await sim.waitForMessage(BEN, { id: poll.body["id"] }, 60_000)).toMatchObject({ kind: "poll" });
  for (const member of [BEN, CARA])
    expect(await sim.waitForMessage(member, { id: inGroup.body["id"] }, 60_000)).toMatchObject({
      text: "to the team",
      chat: group.id,
    });
  // The poll that was given again can be voted in: its secret is the one that Parley reads votes with.
  await sim.votePoll(BEN, poll.body["id"], ["yes"]);
  await until(async () => {
    const { body } = await gateway.get(`/messages/${poll.body["id"]}`, { key });
    return (
      body["data"]?.poll?.options?.[0]?.votes === 1 || JSON.stringify(body["data"]?.poll ?? "").includes(BEN)
    );
  }, 60_000);
  await sim.expectViolation("undecryptable").catch(() => undefined);
});

it("a phone that never can read a message gets it a few times, not for ever", async () => {
  const world = await openWorld();
  const { sim } = world;
  await world.link(SHOP);
  await sim.addContact(ANA);
  damageNextFor(world, phone(ANA), 50);

  const { body } = await sendText(world, ANA, "never readable");

  await until(async () => {
    const entries = await sim.transcript({ id: body["id"], contact: ANA });
    return entries.length > 1 && entries.every(({ decrypted }) => !decrypted);
  }, 60_000);
  await sim.addContact(BEN);
  damageNextFor(world, "nobody", 0);
  const after = await sendText(world, BEN, "the number goes on");
  await sim.waitForMessage(BEN, { id: after.body["id"] }, 60_000);
  await sim.settle(30_000);
  expect(await attempts(world, body["id"])).toBeLessThanOrEqual(6);
  await sim.expectViolation("undecryptable");
});

async function age(url: string, ms: number): Promise<void> {
  const database = createClient({ url });
  await database.execute({ sql: "update outbox set created_at = created_at - ?", args: [ms] });
  database.close();
}
