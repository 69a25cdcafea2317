import { expect, it } from "vitest";
import { openWorld } from "../_setup/world.ts";

const SHOP = "31600000001";
/** A Brazilian number as WhatsApp knows it, and as its owner writes it, with the ninth digit. */
const KNOWN_AS = "551187654321";
const WRITTEN_AS = "5511987654321";

it("a number that WhatsApp knows under another form is reached, and answered as it was written", async () => {
  const world = await openWorld({ again: true });
  await world.link(SHOP);
  await world.sim.addContact(KNOWN_AS, { otherForms: [WRITTEN_AS] });
  const send = (message: string) =>
    world.gateway.post("/send-message", { sender: SHOP, number: WRITTEN_AS, message }, { key: world.key });

  const first = await send("first");
  const second = await send("second");

  expect(first.body).toMatchObject({ status: true, results: [{ number: WRITTEN_AS, state: "sent" }] });
  expect(second.body).toMatchObject({ state: "sent" });
  await world.sim.waitForMessage(KNOWN_AS, { text: "second" });
  expect((await world.sim.messages(KNOWN_AS)).map(({ id }) => id)).toEqual([first.body.id, second.body.id]);
});

it("a number that nobody has is refused", async () => {
  const world = await openWorld({ again: true });
  await world.link(SHOP);

  const answer = await world.gateway.post(
    "/send-message",
    { sender: SHOP, number: WRITTEN_AS, message: "anybody?" },
    { key: world.key },
  );

  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({ status: false, errors: { code: "NOT_ON_WHATSAPP" } });
});
