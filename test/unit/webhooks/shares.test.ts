import { describe, expect, it, vi } from "vitest";
import { ACCOUNT, DEVICE, gateway, receiver, status, storeWithNumber } from "./gateway.ts";
import type { Store } from "../../../src/store/store.ts";

const OTHERS = [2, 3, 4, 5, 6, 7, 8, 9, 10];
const CHATS = 20;

async function storeWithNumbers(): Promise<Store> {
  const store = await storeWithNumber();
  await store.writer.commit(
    OTHERS.map((id) => ({
      sql: "insert into devices (id, account_id, number, state, since, created_at) values (?, ?, ?, 'connected', 0, 0)",
      args: [id, `acc${id}`, `49306660${id}`],
    })),
  );
  return store;
}

describe("receivers that never answer", () => {
  it("keep nobody else's event waiting, however many they are and however much they have waiting", async () => {
    const [store, slow, quick] = await Promise.all([storeWithNumbers(), receiver(), receiver()]);
    const first = await gateway(store, { accountOf: (deviceId) => `acc${deviceId}` });
    for (const device of [DEVICE, ...OTHERS]) await first.webhooks.put(device, { url: quick.url });
    for (const device of [DEVICE, ...OTHERS])
      for (let chat = 1; chat <= CHATS; chat++)
        await first.receive({ text: "hi", chat: `${chat}@lid`, chatKey: `${chat}@lid` }, device);
    await vi.waitFor(() => expect(quick.posts).toHaveLength((OTHERS.length + 1) * CHATS));
    for (const device of OTHERS) await first.webhooks.put(device, { url: slow.url });
    slow.answer(() => undefined);

    const owed = await first.webhooks.deliveries.replayMany({ deviceIds: OTHERS, state: "delivered" });
    expect(owed).toBe(OTHERS.length * CHATS);
    // As many as they get: 16 for a number, and 128 for all of them beyond each one's first.
    await vi.waitFor(() => expect(slow.posts.length).toBeGreaterThanOrEqual(128));
    quick.posts.length = 0;
    quick.answer(status(200));
    await first.webhooks.deliveries.replayMany({ deviceIds: [DEVICE], state: "delivered" });
    await vi.waitFor(() => expect(quick.posts).toHaveLength(CHATS));
    expect(slow.posts.length).toBeLessThanOrEqual(128 + OTHERS.length);
  });

  it("hold up no first attempt of another number, of their own account or another", async () => {
    const [store, slow, quick] = await Promise.all([storeWithNumbers(), receiver(), receiver()]);
    const [one, two, beside, elsewhere] = OTHERS as [number, number, number, number];
    const accountOf = (device: number) => (device === elsewhere ? "another" : ACCOUNT);
    const parley = await gateway(store, { accountOf });
    slow.answer(() => undefined);
    quick.answer(status(200));
    for (const device of [one, two]) await parley.webhooks.put(device, { url: slow.url, timeoutMs: 29_000 });
    for (const device of [beside, elsewhere]) await parley.webhooks.put(device, { url: quick.url });
    for (const device of [one, two])
      for (let chat = 1; chat <= 3 * CHATS; chat++)
        await parley.receive({ text: "hi", chat: `${chat}@lid`, chatKey: `${chat}@lid` }, device);
    await vi.waitFor(() => expect(slow.posts.length).toBeGreaterThanOrEqual(2));
    await parley.receive({ text: "quick" }, beside);
    await parley.receive({ text: "quick" }, elsewhere);
    // Those that hang do so for 29 seconds, which is longer than this waits.
    await vi.waitFor(() => expect(quick.posts).toHaveLength(2));
  });

  it("of one account take no more than its share, and each of its numbers has a place all the same", async () => {
    const [store, slow] = await Promise.all([storeWithNumbers(), receiver()]);
    await store.writer.commit([{ sql: "update devices set account_id = ?", args: [ACCOUNT] }]);
    const parley = await gateway(store, { accountOf: () => ACCOUNT });
    const quick = await receiver();
    for (const device of OTHERS) await parley.webhooks.put(device, { url: quick.url });
    for (const device of OTHERS)
      for (let chat = 1; chat <= CHATS; chat++)
        await parley.receive({ text: "hi", chat: `${chat}@lid`, chatKey: `${chat}@lid` }, device);
    await vi.waitFor(() => expect(quick.posts).toHaveLength(OTHERS.length * CHATS));
    for (const device of OTHERS)
      await parley.webhooks.put(device, { url: slow.url, headers: { "x-device": String(device) } });
    slow.answer(() => undefined);

    await parley.webhooks.deliveries.replayMany({ deviceIds: OTHERS, state: "delivered" });
    const devices = () => new Set(slow.posts.map(({ headers }) => headers["x-device"]));
    await vi.waitFor(() => expect(devices().size).toBe(OTHERS.length));
    expect(slow.posts.length).toBeLessThanOrEqual(32 + OTHERS.length);
  });
});
