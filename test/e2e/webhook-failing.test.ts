import { expect, it } from "vitest";
import { command } from "../_setup/command.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const BEN = "4915100000002";

it("a webhook that fails is one warning with the next try, and why and devices why say so until it works again", async () => {
  const hook = await startReceiver();
  hook.status = 500;
  const world = await openWorld();
  const { gateway, sim } = world;
  await world.link(SHOP);
  await sim.addContact(ANA);
  await gateway.put(`/devices/${SHOP}/webhook`, { url: hook.url }, { key: world.key });
  const warnings = (): string[] =>
    gateway
      .output()
      .split("\n")
      .filter((line) => line.includes("the webhook failed"));

  for (const text of ["one", "two", "three"]) await sim.sendText(ANA, SHOP, text);
  await until(() => hook.events.length >= 3);
  await until(() => warnings().length > 0);
  expect(warnings()).toHaveLength(1);
  expect(JSON.parse(warnings()[0]!)).toMatchObject({ level: 40, next: expect.stringMatching(/^20\d\d-/) });

  const asked = { env: gateway.operatorEnv };
  const why = await gateway.get(`/devices/${SHOP}/why`, { key: world.key });
  expect(why.body["data"]).toMatchObject({
    state: "connected",
    webhook: { state: "failing", failing_since: expect.any(String) },
    advice: expect.stringMatching(
      /its webhook has failed since 20.* Its events are kept; the next try is at 20/,
    ),
  });
  expect(await command(asked, "devices", "why", SHOP)).toContain("its webhook has failed since");
  const said = await command(asked, "why", "--last", "1");
  expect(said).toContain("Nobody has answered yet.");
  expect(said).toMatch(/The webhook has failed since 20.*; the event is kept, and the next try is at 20/);
  expect(said).not.toContain("Nobody answered.");

  hook.status = 200;
  // Ana's may wait for minutes: of a chat, the oldest event is posted first.
  await sim.addContact(BEN);
  await sim.sendText(BEN, SHOP, "four");
  await until(() => gateway.output().includes("the webhook takes events again"));
  expect(await command(asked, "devices", "why", SHOP)).toContain("Everything is in order.");
  expect(warnings()).toHaveLength(1);
});
