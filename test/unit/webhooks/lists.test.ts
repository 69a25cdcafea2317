import { describe, expect, it } from "vitest";
import { createDecisions, type DecisionFilter } from "../../../src/pipeline/decisions.ts";
import type { Statement, Store } from "../../../src/store/store.ts";
import { createDeliveries, type DeliveryFilter } from "../../../src/webhooks/records.ts";
import { createReplays } from "../../../src/webhooks/replays.ts";
import { fullScans, planOf, recordingStore } from "../../_setup/query-plan.ts";
import { DEVICE, storeWithNumber } from "./gateway.ts";

const ROWS = 1_500;
const ANA = "49151@s.whatsapp.net";
const ANAS_LID = "77@lid";

const row = (table: string, values: Record<string, string | number | Uint8Array | null>): Statement => ({
  sql: `insert into ${table} (${Object.keys(values)
    .map((name) => `"${name}"`)
    .join(", ")}) values (${Object.keys(values)
    .map(() => "?")
    .join(", ")})`,
  args: Object.values(values),
});

/** Three in each millisecond; every third is Ana's, half of hers under her LID; every fifth delivery is dead. */
async function filled(): Promise<Store> {
  const store = await storeWithNumber();
  const body = new Uint8Array();
  const statements = Array.from({ length: ROWS }, (_, index) => {
    const at = 1_700_000_000_000 + Math.floor(index / 3);
    const chat = index % 3 > 0 ? `${index % 50}@lid` : index % 2 === 0 ? ANA : ANAS_LID;
    const known = { device_id: DEVICE, chat };
    const sealed = { url: "https://shop.example/", body, may_reply: 1, type: "text" };
    const state = index % 5 === 0 ? "dead" : "delivered";
    return [
      row("decisions", { ...known, inbox_id: index + 1, wa_id: `3A${index}`, trail: "[]", at }),
      row("deliveries", {
        ...known,
        ...sealed,
        id: `msg_${index}`,
        message_id: `3A${index}`,
        state,
        created_at: at,
      }),
    ];
  });
  const pair = { device_id: DEVICE, lid_user: "77", pn_user: "49151", seen_at: 0 };
  const status = {
    device_id: DEVICE,
    chat: "status@broadcast",
    inbox_id: ROWS + 1,
    wa_id: "3AS",
    trail: "[]",
  };
  await store.writer.commit([
    ...statements.flat(),
    row("lid_map", pair),
    row("decisions", { ...status, at: 1 }),
  ]);
  return store;
}

interface Page {
  total: number | null;
  next: string | null;
  ids: string[];
}

/** All pages, and that each but the last is full. */
async function paged(limit: number, page: (before: string | undefined) => Promise<Page>) {
  const pages: Page[] = [];
  for (let before: string | undefined; ;) {
    const found = await page(before);
    pages.push(found);
    if (found.next === null) break;
    expect(found.ids).toHaveLength(limit);
    before = found.next;
  }
  return { total: pages[0]!.total, ids: pages.flatMap(({ ids }) => ids) };
}

const newestFirst = (wanted: (index: number) => boolean): string[] =>
  Array.from({ length: ROWS }, (_, index) => index)
    .filter(wanted)
    .map((index) => `3A${index}`)
    .toReversed();

describe("a list of many rows", () => {
  it("of deliveries has each once, newest first, whatever the filter, and counts only what is counted quickly", async () => {
    const store = await filled();
    const { list } = createDeliveries(store);
    const ids = (filter: Partial<DeliveryFilter>, limit = 100) =>
      paged(limit, async (before) => {
        const { deliveries, ...page } = await list({ deviceIds: [DEVICE, 9], limit, before, ...filter });
        return { ...page, ids: deliveries.map(({ messageId }) => messageId) };
      });

    expect(await ids({})).toEqual({ total: null, ids: newestFirst(() => true) });
    expect(await ids({ state: "dead" }, 7)).toEqual({
      total: 300,
      ids: newestFirst((index) => index % 5 === 0),
    });
    expect(await ids({ deviceIds: [9] })).toEqual({ total: 0, ids: [] });
  });

  it("of deliveries tells the last attempts, however many there were", async () => {
    const store = await filled();
    const attempts = Array.from({ length: 50 }, (_, index) =>
      row("delivery_attempts", {
        delivery_id: "msg_7",
        attempt: index + 1,
        at: index + 1,
        status_code: 500,
        duration_ms: 1,
      }),
    );
    const one = { delivery_id: "msg_8", attempt: 1, at: 1, status_code: 200, duration_ms: 1 };
    await store.writer.commit([...attempts, row("delivery_attempts", one)]);
    const { deliveries } = await createDeliveries(store).list({
      deviceIds: [DEVICE],
      limit: 2,
      before: "msg_9",
    });
    expect(deliveries.map((found) => found.attempts.map(({ at }) => at))).toEqual([
      [1],
      Array.from({ length: 20 }, (_, index) => 31 + index),
    ]);
  });

  it("of decisions does too; a chat's are found under its number and its LID", async () => {
    const store = await filled();
    const { list } = createDecisions(store);
    const ids = (filter: Partial<DecisionFilter>, limit = 100) =>
      paged(limit, async (before) => {
        const { decisions, ...page } = await list({ deviceId: DEVICE, limit, before, ...filter });
        return { ...page, ids: decisions.map(({ messageId }) => messageId) };
      });

    expect(await ids({})).toEqual({ total: null, ids: newestFirst(() => true) });
    expect(await ids({ chats: [ANA] }, 7)).toEqual({
      total: 500,
      ids: newestFirst((index) => index % 3 === 0),
    });
    expect(await ids({ message: "3A9" })).toEqual({ total: 1, ids: ["3A9"] });
    expect(await ids({ message: "3A9", chats: [ANA] })).toEqual({ total: 1, ids: ["3A9"] });
    expect(await ids({ message: "3A10", chats: [ANA] })).toEqual({ total: 0, ids: [] });
    expect(await ids({ message: "3AS" })).toEqual({ total: 0, ids: [] });
    expect((await list({ deviceId: DEVICE, limit: 1, before: "3A10" })).decisions[0]?.messageId).toBe("3A9");
  });

  it("is replayed by ids without a look at any other", async () => {
    const { store, statements } = recordingStore(await filled());
    const before = statements().length;
    const replays = createReplays({
      store,
      registry: { get: () => ({ enabled: true, mode: "always", listener: "" }) as never },
      listeners: { of: () => [] },
      tryNow: () => undefined,
      find: async () => null,
    });
    const ids = ["msg_3", "msg_5", "msg_unknown"];

    expect(await replays.replayMany({ deviceIds: [DEVICE], ids, since: 1 })).toBe(2);
    for (const sql of statements()
      .slice(before)
      .filter((text) => text.startsWith("select"))) {
      const plan = await planOf(store, sql);
      expect(plan.filter((step) => / deliveries /.test(step))).toEqual([
        expect.stringMatching(/sqlite_autoindex_deliveries_1 \(id=\?\)/),
      ]);
    }
  });

  it("finds its page by an index that has the filter's columns, and reads nothing from end to end", async () => {
    const { store, statements } = recordingStore(await filled());
    const indexes = async (run: () => Promise<unknown>): Promise<string[]> => {
      const before = new Set(statements());
      await run();
      const used: string[] = [];
      for (const sql of statements().filter((text) => !before.has(text))) {
        // What is counted ends with its limit.
        expect(await fullScans(store, sql, ["(subquery-1)", "(subquery-2)"]), sql).toEqual([]);
        used.push(...(await planOf(store, sql)));
      }
      return used;
    };
    const deliveries = createDeliveries(store);
    const decisions = createDecisions(store);
    const page = { deviceIds: [DEVICE], deviceId: DEVICE, limit: 10 };
    const place = (text: RegExp): unknown => expect.stringMatching(text);

    expect(await indexes(() => deliveries.list(page))).toContainEqual(
      place(/deliveries_device \(device_id=\? AND/),
    );
    expect(await indexes(() => deliveries.list({ ...page, state: "dead" }))).toContainEqual(
      place(/deliveries_state \(device_id=\? AND state=\? AND/),
    );
    for (const filter of [{ messageId: "3A1" }, { messageId: "3A1", state: "dead" as const }]) {
      const used = await indexes(() => deliveries.list({ ...page, ...filter }));
      expect(used).not.toContainEqual(place(/deliveries_(device|state)/));
      expect(used).toContainEqual(place(/deliveries_message \(device_id=\? AND message_id=\? AND/));
    }
    expect(await indexes(() => decisions.list(page))).toContainEqual(
      place(/decisions_device \(device_id=\? AND/),
    );
    expect(await indexes(() => decisions.list({ ...page, chats: [ANA] }))).toContainEqual(
      place(/decisions_chat \(device_id=\? AND chat=\? AND/),
    );
    for (const filter of [{ message: "3A1" }, { message: "3A1", chats: [ANA] }, { before: "3A1" }]) {
      const used = await indexes(() => decisions.list({ ...page, ...filter }));
      if ("message" in filter) expect(used).not.toContainEqual(place(/decisions_(device|chat)/));
      expect(used).toContainEqual(place(/decisions_message \(device_id=\? AND wa_id=\?/));
    }
  });
});
