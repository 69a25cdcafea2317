import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until } from "../_setup/world.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

describe("a message in, a reply out", () => {
  it("is answered by the bot that knows it, once, under one id", async () => {
    const world = await openWorld({ again: true });
    await world.link(SHOP);
    await world.bindBots(SHOP, "ping");
    await world.sim.addContact(ANA, { name: "Ana" });

    await world.sim.sendText(ANA, SHOP, "Ping!");

    expect(await world.sim.waitForMessage(ANA, { from: SHOP })).toMatchObject({ text: "pong", ordinal: 1 });
    expect(await world.sim.messages(ANA)).toHaveLength(1);
  });

  it("goes to the webhook when no bot answers, with the six specified fields and a valid signature", async () => {
    const world = await openWorld({ again: true });
    const receiver = await startReceiver({ message: "We are open until six." });
    await world.link(SHOP);
    await world.bindBots(SHOP, "ping");
    await world.sim.addContact(ANA, { name: "Ana" });
    const put = await world.gateway.put(
      `/devices/${SHOP}/webhook`,
      { url: receiver.url },
      { key: world.key },
    );

    const { id } = await world.sim.sendText(ANA, SHOP, "Are you open?");

    expect(await world.sim.waitForMessage(ANA, { from: SHOP })).toMatchObject({
      text: "We are open until six.",
    });
    const [event] = receiver.events;
    expect(event!.body).toMatchObject({
      message: "Are you open?",
      text: "Are you open?",
      bufferImage: null,
      from: ANA,
      id,
      pushName: "Ana",
      device: SHOP,
      chat: ANA,
      is_group: false,
      participant: null,
      type: "text",
      handled_by: null,
    });
    new Webhook(put.body.secret).verify(event!.text, event!.headers as Record<string, string>);
    const { body } = await world.gateway.get("/deliveries", { key: world.key });
    expect(body.data[0]).toMatchObject({ message_id: id, state: "delivered", reply: { understood: true } });
  });

  it("leaves a message without bot and webhook unanswered and decided", async () => {
    const world = await openWorld({ again: true });
    await world.link(SHOP);
    await world.bindBots(SHOP, "ping");
    await world.sim.addContact(ANA);

    const unknown = await world.sim.sendText(ANA, SHOP, "something nobody knows");
    const ping = await world.sim.sendText(ANA, SHOP, "ping");

    const pong = await world.sim.waitForMessage(ANA, { from: SHOP });
    expect(pong).toMatchObject({ text: "pong" });
    expect(await world.sim.messages(ANA)).toHaveLength(1);

    // And whoever asks why is told, step by step.
    const way = async (id: string) =>
      (await world.gateway.get(`/messages/${id}/trace`, { key: world.key })).body.data;
    expect(await way(unknown.id)).toMatchObject({
      chat: ANA,
      direction: "in",
      outcome: "silent",
      silence: { reason: "no_match", text: expect.any(String) },
    });
    await until(async () => (await way(pong.id)).outcome === "delivered");
    const answered = await way(ping.id);
    expect(answered).toMatchObject({ outcome: "answered", silence: null });
    const steps = (answered.steps as { step: string }[]).map(({ step }) => step);
    expect(steps.filter((step) => step !== "guard")).toEqual(
      "sent stored lane asked decided reply acknowledged delivered".split(" "),
    );
    expect(answered.steps).toContainEqual(expect.objectContaining({ step: "reply", id: pong.id }));
    const nobody = await world.gateway.get("/messages/UNKNOWN/trace", { key: world.key });
    expect(nobody.status).toBe(404);
    const found = await world.gateway.get(`/messages?sender=${SHOP}&q=NOBODY`, { key: world.key });
    expect(found.body.data).toMatchObject([{ id: unknown.id }]);
    const { body } = await world.gateway.get(`/stats?sender=${SHOP}`, { key: world.key });
    const answered_by = { bot: 1, webhook: 0, nobody: 1 };
    expect(body.sum).toMatchObject({ in: 2, out: 1, answered_by, failed: 0, p95_ms: expect.any(Number) });
  });

  it("retries a webhook that failed and sends its reply once", async () => {
    const world = await openWorld({ again: true });
    const receiver = await startReceiver({ message: "Back again." });
    receiver.status = 503;
    await world.link(SHOP);
    await world.sim.addContact(ANA);
    await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key: world.key });

    await world.sim.sendText(ANA, SHOP, "hello?");
    await until(() => receiver.events.length === 1);
    receiver.status = 200;

    expect(await world.sim.waitForMessage(ANA, { from: SHOP }, 30_000)).toMatchObject({
      text: "Back again.",
    });
    const ids = receiver.events.map((event) => event.headers["webhook-id"]);
    expect(new Set(ids).size).toBe(1);
    expect(await world.sim.messages(ANA)).toHaveLength(1);
  });

  it("sends a text by REST and says that WhatsApp took it", async () => {
    const world = await openWorld({ again: true });
    await world.link(SHOP);
    await world.sim.addContact(ANA);

    const answer = await world.gateway.post(
      "/send-message",
      { sender: SHOP, number: ANA, message: "Your parcel is here." },
      { key: world.key },
    );

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: true, msg: "Message sent successfully!", state: "sent" });
    expect(await world.sim.waitForMessage(ANA, { id: answer.body.id })).toMatchObject({
      text: "Your parcel is here.",
    });
    await until(async () => {
      const { body } = await world.gateway.get(`/messages/${answer.body.id}`, { key: world.key });
      return body.data.state === "delivered";
    });
  });

  it("sends by GET, decoded as PHP does", async () => {
    const world = await openWorld({ again: true });
    await world.link(SHOP);
    await world.sim.addContact(ANA);

    const query = `api_key=${world.key}&sender=${SHOP}&number=%2B49+151-00000001&message=a+b%20c%2Bd`;
    const answer = await world.gateway.get(`/send-message?${query}`);

    expect(answer.body).toMatchObject({ status: true, results: [{ number: ANA, state: "sent" }] });
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await world.sim.waitForMessage(ANA, { from: SHOP })).toMatchObject({ text: "a b c+d" });
  });

  it("costs one msg per reply in a known chat: no key query, no session started anew", async () => {
    const world = await openWorld({ again: true });
    await world.link(SHOP);
    await world.bindBots(SHOP, "ping");
    await world.sim.addContact(ANA);
    for (let i = 0; i < 3; i++) {
      await world.sim.sendText(ANA, SHOP, "ping");
      await world.sim.waitForMessage(ANA, { from: SHOP, count: i + 1 });
    }
    await world.sim.settle();
    const since = (await world.sim.stanzas()).at(-1)!.seq;

    for (let i = 3; i < 13; i++) {
      await world.sim.sendText(ANA, SHOP, "ping");
      await world.sim.waitForMessage(ANA, { from: SHOP, count: i + 1 });
    }

    const fromUs = await world.sim.stanzas({ number: SHOP, device: 1, direction: "in", since });
    expect(fromUs.filter(({ tag }) => tag === "message")).toHaveLength(10);
    expect(fromUs.filter(({ enc }) => enc.includes("pkmsg"))).toEqual([]);
    expect(fromUs.filter(({ tag, attrs }) => tag === "iq" && attrs.xmlns !== "w:p")).toEqual([]);
  });
});
