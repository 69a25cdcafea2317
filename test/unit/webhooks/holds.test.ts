import { describe, expect, it } from "vitest";
import { createTime } from "../../../src/model/time.ts";
import { createHolds } from "../../../src/webhooks/holds.ts";
import { temporaryStore } from "../store/temporary.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

async function scene() {
  const clocks = { host: Date.now(), monotonic: 0 };
  const { now, monotonic } = { now: () => clocks.host, monotonic: () => clocks.monotonic };
  const time = createTime({ now, monotonic, after: () => () => undefined });
  const store = await temporaryStore();
  const holds = createHolds({ read: store.read, time });
  return { clocks, store, time, holds };
}

describe("a chat that a webhook holds", () => {
  it("is let go in time although the host's clock is set back", async () => {
    const { clocks, holds } = await scene();
    holds.keep(1, "1@lid", 60);
    clocks.host -= 5 * HOUR;
    expect(holds.holds(1, "1@lid")).toBe(true);
    clocks.monotonic += 61_000;
    expect(holds.holds(1, "1@lid")).toBe(false);
  });

  it("is let go in time after a restart, by the host's clock", async () => {
    const { clocks, store, time, holds } = await scene();
    await store.writer.commit([holds.keep(1, "1@lid", 600)]);
    clocks.host += 5 * MINUTE;
    const again = createHolds({ read: store.read, time });
    await again.load();
    expect(again.holds(1, "1@lid")).toBe(true);
    clocks.host += 6 * MINUTE;
    expect(again.holds(1, "1@lid")).toBe(false);
  });
});
