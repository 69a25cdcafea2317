import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createTime } from "../../../src/model/time.ts";
import type { Statement, Store } from "../../../src/store/store.ts";
import { createHolds } from "../../../src/webhooks/holds.ts";
import { releaseHolds } from "../../../src/webhooks/release-holds.ts";
import { scansOf, watchStatements } from "../store/query-plan.ts";
import { rawRows } from "../store/rows.ts";
import { temporaryStore } from "../store/temporary.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function scene() {
  const clocks = { host: Date.now(), monotonic: 0 };
  const { now, monotonic } = { now: () => clocks.host, monotonic: () => clocks.monotonic };
  const time = createTime({ now, monotonic, after: () => () => undefined });
  const store = await temporaryStore();
  const holds = createHolds({ ...store, time }, 1);
  return { clocks, store, time, holds };
}

describe("a chat that a webhook holds", () => {
  it("is let go in time although the host's clock is set back", async () => {
    const { clocks, holds } = await scene();
    holds.keep("1@lid", 60);
    clocks.host -= 5 * HOUR;
    expect(holds.holds("1@lid")).toBe(true);
    clocks.monotonic += 61_000;
    expect(holds.holds("1@lid")).toBe(false);
  });

  it("is let go in time after a restart, by the host's clock", async () => {
    const { clocks, store, time, holds } = await scene();
    await store.writer.commit([holds.keep("1@lid", 600)]);
    clocks.host += 5 * MINUTE;
    const again = createHolds({ ...store, time }, 1);
    await again.load();
    expect(again.holds("1@lid")).toBe(true);
    clocks.host += 6 * MINUTE;
    expect(again.holds("1@lid")).toBe(false);
  });

  it("is known after a start among thousands that were held once, of which none is read", async () => {
    const { clocks, time } = await scene();
    const watched = watchStatements(await temporaryStore());
    const { store } = watched;
    const chats = Array.from({ length: 3_000 }, (_, index) => ({
      sql: "insert into chat_state (device_id, chat, held_until) values (?, ?, ?)",
      args: [1 + (index % 2), `${index}@lid`, clocks.host + (index < 500 ? MINUTE : -index)],
    }));
    await store.writer.commit(chats);
    let read = 0;
    const pages: Store["pages"] = async function* (query, after, rows) {
      for await (const page of store.pages(query, after, rows)) {
        read += page.length;
        yield page;
      }
    };
    const holds = [1, 2].map((deviceId) => createHolds({ ...store, pages, time }, deviceId));
    for (const own of holds) await own.load();

    expect(read).toBe(500);
    const isHeld = (index: number): boolean => holds[index % 2]!.holds(`${index}@lid`);
    expect([0, 1, 499, 500, 501].map(isHeld)).toEqual([true, true, true, false, false]);
    expect(await scansOf(store, watched.seen.at(-1)!)).toEqual([]);
  });

  it("is let go with its webhook, and rows of chats that are held no more are left as they are", async () => {
    const { clocks, store } = await scene();
    const held = (deviceId: number, chat: number, until: number): Statement => ({
      sql: "insert into chat_state (device_id, chat, held_until) values (?, ?, ?)",
      args: [deviceId, `${chat}@lid`, until],
    });
    const old = Array.from({ length: 100 }, (_, index) => held(1, index, clocks.host - 48 * HOUR));
    await store.writer.commit([...old, held(1, 100, clocks.host + HOUR), held(2, 1, clocks.host + HOUR)]);

    const [result] = await store.writer.commit([releaseHolds(1, clocks.host)]);

    expect(result!.rowsAffected).toBe(1);
    expect(await scansOf(store, releaseHolds(1, clocks.host))).toEqual([]);
    const left = await rawRows(store, "select device_id from chat_state where held_until > ?", [clocks.host]);
    expect(left).toEqual([{ device_id: 2 }]);
  });

  it("takes no memory for long: what is over is forgotten though nobody asks for it", async () => {
    const { clocks, holds } = await scene();
    const forgotten = vi.spyOn(Map.prototype, "delete");
    onTestFinished(() => forgotten.mockRestore());
    for (let hour = 0; hour < 10; hour++) {
      for (let chat = 0; chat < 1_000; chat++) holds.keep(`${hour}-${chat}@lid`, 60);
      clocks.host += HOUR;
      clocks.monotonic += HOUR;
    }

    // Those of the last hour are not over, and of the hour before there may be some left.
    expect(forgotten.mock.results.filter(({ value }) => value === true).length).toBeGreaterThanOrEqual(8_000);
    expect(holds.holds("9-1@lid")).toBe(false);
  });
});
