import { expect, it } from "vitest";
import { openWorld } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

it("a conversation is told again by what is built beside the gateway, and nothing leaves", async () => {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.bindBots(SHOP, "ping");
  await world.sim.addContact(ANA, { name: "Ana" });
  await world.sim.sendText(ANA, SHOP, "ping");
  await world.sim.waitForMessage(ANA, { from: SHOP });

  const asked = { sender: SHOP, chat: ANA, says: ["PING"] };
  const { status, body } = await world.gateway.post("/bots/fork", asked, { key: world.key });

  expect({ status, troubles: body["data"]?.troubles }).toEqual({ status: 200, troubles: [] });
  const said = (body["data"].turns as { now: { text: string }[] | null }[]).flatMap(({ now }) => now ?? []);
  expect(said.map(({ text }) => text)).toEqual(["pong", "pong"]);
  expect(await world.sim.messages(ANA)).toHaveLength(1);
});
