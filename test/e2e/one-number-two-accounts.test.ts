import { describe, expect, it } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { openWorld, until } from "../_setup/world.ts";
import { scanning } from "../_setup/scanning.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";

describe("a number that two accounts have linked", () => {
  it("answers in both, each by its own webhook, and goes on in one when the other erases it", async () => {
    const world = await openWorld();
    const { gateway, sim } = world;
    const second = await gateway.createAccount("Second");
    const keys = [world.key, second.key];
    await world.link(SHOP);
    const owner = await sim.number(SHOP);
    const receivers = [
      await startReceiver({ message: "from the first" }),
      await startReceiver({ message: "from the second" }),
    ];
    // The account that comes later knows nothing of the other: it scans a QR of its own.
    const isLinked = scanning(owner);
    await until(async () =>
      isLinked((await gateway.post("/generate-qr", { device: SHOP }, { key: second.key })).body),
    );
    expect(await sim.companions(SHOP)).toHaveLength(2);
    for (const [index, key] of keys.entries())
      await gateway.put(`/devices/${SHOP}/webhook`, { url: receivers[index]!.url }, { key });
    const ana = await sim.addContact(ANA, { name: "Ana" });

    const { id } = await ana.sendText(SHOP, "hello?");
    await ana.waitForMessage({ text: "from the first" }, 20_000);
    await ana.waitForMessage({ text: "from the second" }, 20_000);
    await sim.settle();

    for (const receiver of receivers)
      expect(receiver.events.map(({ body }) => [body["id"], body["from"], body["message"]])).toEqual([
        [id, ANA, "hello?"],
      ]);
    expect(await ana.messages()).toHaveLength(2);
    for (const key of keys) {
      const { body } = await gateway.get("/deliveries", { key });
      expect(body).toMatchObject({ total: 1, data: [{ message_id: id, state: "delivered" }] });
    }

    const sent = await gateway.post(
      "/send-message",
      { sender: SHOP, number: ANA, message: "by REST" },
      { key: world.key },
    );
    // The other account sees what its own companion was told: that the owner wrote it, and nothing of who really did.
    const elsewhere = async () => gateway.get(`/messages/${sent.body["id"]}`, { key: second.key });
    await until(async () => (await elsewhere()).status === 200);
    expect((await elsewhere()).body["data"]).toEqual({
      id: sent.body["id"],
      sender: SHOP,
      number: ANA,
      kind: "text",
      origin: "phone",
      state: null,
      history: [],
    });

    expect((await gateway.delete(`/devices/${SHOP}`, { key: world.key })).status).toBe(200);
    await until(async () => (await sim.companions(SHOP)).length === 1);
    expect((await gateway.get(`/devices/${SHOP}`, { key: second.key })).body["data"].state).toBe("connected");
    expect((await gateway.get("/deliveries", { key: second.key })).body["total"]).toBe(1);
    await ana.sendText(SHOP, "still there?");
    await ana.waitForMessage({ text: "from the second", count: 2 }, 20_000);
    await sim.settle();
    expect(receivers[0]!.events).toHaveLength(1);
    expect(receivers[1]!.events).toHaveLength(2);
    expect((await gateway.get("/devices", { key: world.key })).body["total"]).toBe(0);
  });
});
