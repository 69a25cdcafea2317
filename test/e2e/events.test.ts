import { describe, expect, it } from "vitest";
import { listenTo, type Told } from "../_setup/event-listener.ts";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until, type World } from "../_setup/world.ts";

const SHOP = "31600000001";
const SECOND = "31600000002";
const ANA = "4915100000001";

const listen = (world: World, key: string, lastEventId?: number) =>
  listenTo(world.gateway.url, key, lastEventId);

const names = (told: Told[]) => [...new Set(told.map(({ event }) => event))].toSorted();

describe("GET /events", () => {
  it("tells of numbers, messages, decisions and deliveries as REST shows them, in order, with rising ids", async () => {
    const world = await openWorld({ again: true });
    const receiver = await startReceiver({ message: "Until six." });
    const listener = await listen(world, world.key);
    await world.link(SHOP);
    await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, world);
    await world.sim.addContact(ANA, { name: "Ana" });
    const { id } = await world.sim.sendText(ANA, SHOP, "Open?");
    await world.sim.waitForMessage(ANA, { from: SHOP });
    await until(() =>
      listener.told.some(({ event, data }) => event === "message.out" && data.state === "delivered"),
    );

    expect(listener.response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(listener.response.headers.get("cache-control")).toBe("no-store");
    expect(listener.text).toMatch(/^:/);
    expect(names(listener.told)).toEqual(["decision", "delivery", "device", "message.in", "message.out"]);
    const ids = listener.told.map((event) => event.id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    const of = (name: string) => listener.told.filter(({ event }) => event === name).map(({ data }) => data);
    expect(of("device").map(({ state }) => state)).toContain("linking");
    expect(of("device").at(-1)).toMatchObject({ device: SHOP, state: "connected" });
    expect(of("message.in")).toMatchObject([{ id, message: "Open?", from: ANA, device: SHOP, type: "text" }]);
    expect(of("decision")).toMatchObject([{ message_id: id, device: SHOP, chat: ANA, by: "webhook" }]);
    expect(of("delivery").at(-1)).toMatchObject({ message_id: id, device: SHOP, state: "delivered" });
    const last = of("message.out").at(-1)!;
    expect(await world.gateway.get(`/messages/${last.id}`, world)).toMatchObject({ body: { data: last } });
  });

  it("a webhook is told of states of messages and of the number, when it asks for them", async () => {
    const world = await openWorld({ again: true });
    const receiver = await startReceiver({ message: "never sent" });
    await world.gateway.post("/devices", { device: SHOP }, world);
    const events = ["status", "device"];
    await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url, events }, world);
    await world.link(SHOP);
    await world.sim.addContact(ANA, { name: "Ana" });
    const sent = await world.gateway.post(
      "/send-message",
      { sender: SHOP, number: ANA, message: "Hello" },
      world,
    );
    const of = (type: string) =>
      receiver.events.map(({ body }) => body).filter((event) => event.type === type);
    await until(() => of("status").some(({ state }) => state === "delivered"));
    await until(() => of("device").some(({ state }) => state === "connected"));

    const { id } = (sent.body as { results: { id: string }[] }).results[0]!;
    expect(of("status").map(({ state }) => state)).toEqual(["sent", "delivered"]);
    for (const event of of("status"))
      expect(event).toMatchObject({ id, target_id: id, device: SHOP, from: SHOP, chat: ANA, text: "" });
    expect(of("device").map(({ state }) => state)).toContain("linking");
    expect(of("device").at(-1)).toMatchObject({ device: SHOP, chat: SHOP, state: "connected", error: null });
    const told = await world.gateway.get(`/deliveries?device=${SHOP}`, world);
    expect((told.body as { data: { type: string }[] }).data.map(({ type }) => type)).toContain("device");
  });

  it("what the owner reads on the phone is told, and posted to a webhook that asks for it; the chat stays unanswered", async () => {
    const world = await openWorld({ again: true });
    const receiver = await startReceiver({ message: "never sent" });
    await world.link(SHOP);
    await world.gateway.put(`/devices/${SHOP}/webhook`, { url: receiver.url, events: ["read"] }, world);
    await world.sim.addContact(ANA, { name: "Ana" });
    const listener = await listen(world, world.key);
    const ids: string[] = [];
    for (const text of ["one", "two"]) ids.push((await world.sim.sendText(ANA, SHOP, text)).id);
    await until(() => listener.told.filter(({ event }) => event === "message.in").length === 2);

    await world.sim.markRead(SHOP, ids);
    const read = () => listener.told.filter(({ event }) => event === "read").map(({ data }) => data);
    await until(() => receiver.events.length === 2 && read().length === 2);

    const posted = receiver.events.map(({ body }) => body);
    expect(posted.map(({ target_id }) => target_id).toSorted()).toEqual(ids.toSorted());
    for (const event of posted)
      expect(event).toMatchObject({
        type: "read",
        state: "read",
        from: SHOP,
        device: SHOP,
        chat: ANA,
        text: "",
      });
    const told = read();
    expect(told.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(told[0]).toEqual({ id: expect.any(String), device: SHOP, chat: ANA, at: expect.any(String) });
    const chats = await world.gateway.get(`/chats?sender=${SHOP}`, world);
    expect(chats.body).toMatchObject({ data: [{ chat: ANA, unanswered: true }] });
    expect(await world.sim.messages(ANA, { from: SHOP })).toEqual([]);
  });

  it("goes on after Last-Event-ID", async () => {
    const world = await openWorld({ again: true });
    await world.link(SHOP);
    await world.bindBots(SHOP, "ping");
    await world.sim.addContact(ANA);
    const first = await listen(world, world.key);
    await world.sim.sendText(ANA, SHOP, "one");
    await until(() => first.told.some(({ event }) => event === "decision"));
    first.stop();
    await world.sim.sendText(ANA, SHOP, "ping");
    await world.sim.waitForMessage(ANA, { text: "pong" });

    const second = await listen(world, world.key, first.told.at(-1)!.id);
    await until(() => second.told.some(({ event }) => event === "decision"));

    const [missed] = second.told.filter(({ event }) => event === "message.in");
    expect(missed!.data).toMatchObject({ message: "ping" });
    expect(second.told[0]!.id).toBeGreaterThan(first.told.at(-1)!.id);
  });

  it("tells a key what it has the permission for, of its numbers only, and nothing once it is deleted", async () => {
    const world = await openWorld({ again: true });
    await world.link(SHOP);
    await world.link(SECOND);
    await world.sim.addContact(ANA);
    const make = async (grants: object) =>
      (await world.gateway.post("/api-keys", { name: "listener", ...grants }, world)).body;
    const reader = await make({ permissions: ["messages"], devices: [SECOND] });
    const decisions = await make({ permissions: ["bots"] });
    const other = await world.gateway.createAccount("Other");
    const all = await listen(world, world.key);
    const messages = await listen(world, reader.api_key);
    const bots = await listen(world, decisions.api_key);
    const strange = await listen(world, other.key);

    await world.sim.sendText(ANA, SHOP, "for the first");
    await until(() => all.told.some(({ event }) => event === "decision"));
    await world.sim.sendText(ANA, SECOND, "for the second");
    await until(() => messages.told.length > 0 && bots.told.length === 2);

    expect(messages.told.map(({ event, data }) => [event, data.message])).toEqual([
      ["message.in", "for the second"],
    ]);
    expect(names(bots.told)).toEqual(["decision"]);
    expect(strange.told).toEqual([]);
    await world.gateway.delete(`/api-keys/${reader.data.id}`, world);
    await world.sim.sendText(ANA, SECOND, "for nobody");
    await until(() => messages.ended);
    expect(messages.text).not.toContain("for nobody");
    expect(bots.ended).toBe(false);
  });

  it("is refused to keys that may hear nothing, who take no place", async () => {
    const world = await openWorld({ again: true });
    const make = async (...permissions: string[]): Promise<string> =>
      (await world.gateway.post("/api-keys", { name: "listener", permissions }, world)).body["api_key"];
    for (let n = 0; n < 4; n++) {
      const deaf = await make("media", "polls", "lid", "qr", "channels", "keys");
      for (let time = 0; time < 20; time++) {
        const refused = await listen(world, deaf);
        expect(refused.response.status).toBe(403);
        await until(() => refused.ended);
        expect(JSON.parse(refused.text).errors).toMatchObject({
          code: "PERMISSION_DENIED",
          permission: "messages",
        });
      }
    }

    for (const permission of ["devices", "messages", "bots", "webhooks", "groups"])
      expect((await listen(world, await make(permission))).response.status).toBe(200);
  });

  it("ends cleanly when the gateway does, and does not hold it up", async () => {
    const world = await openWorld({ again: true });
    const listener = await listen(world, world.key);

    const exit = await world.gateway.stop();

    expect(exit).toEqual({ code: 0, signal: null });
    await until(() => listener.ended);
    expect(listener.text).toMatch(/\n\n$/);
  });

  it("needs a key, in the header", async () => {
    const world = await openWorld({ again: true });
    expect((await world.gateway.get(`/events?api_key=${world.key}`)).status).toBe(401);
  });
});
