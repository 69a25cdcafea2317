import { describe, expect, it } from "vitest";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { watchStatements } from "../store/query-plan.ts";
import { temporaryStore } from "../store/temporary.ts";

const waiting = {
  sql: `INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, state, timestamp, received_at, body)
    VALUES (1, 'c', 's', 'w', 0, 'text', 'pending', 0, 0, x'00')`,
  args: [],
};

describe("what a node among several measures", () => {
  it("stands under its name; what all see the same is counted by the one that has the first partition", async () => {
    const { store, seen } = watchStatements(await temporaryStore());
    await store.writer.commit([waiting]);
    let owned = new Set([0, 1, 255]);
    let away = false;
    const node = { name: "a", owns: (id: number) => owned.has(id), redisIsAway: () => away };
    const metrics = createMetrics({ store, sessions: () => new Map([["connected", 2]]), node });

    const led = await metrics.read();
    expect(led).toContain('parley_inbox_pending{node="a"} 1');
    expect(led).toContain('parley_leases{node="a"} 3');
    expect(led).toContain('parley_redis_up{node="a"} 1');
    expect(led).toContain('parley_sessions{state="connected",node="a"} 2');

    owned = new Set([1]);
    away = true;
    seen.length = 0;
    const followed = await metrics.read();
    expect(seen).toEqual([]);
    expect(followed).not.toMatch(/^parley_(inbox|outbox)_(pending|oldest)/m);
    expect(followed).toContain('parley_leases{node="a"} 1');
    expect(followed).toContain('parley_redis_up{node="a"} 0');
  });

  it("alone has no label, and no gauges of a node", async () => {
    const store = await temporaryStore();
    await store.writer.commit([waiting]);
    const text = await createMetrics({ store, sessions: () => new Map() }).read();

    expect(text).toMatch(/^parley_inbox_pending 1$/m);
    expect(text).not.toContain("node=");
    expect(text).not.toMatch(/parley_(leases|redis_up)/);
  });

  it("passes on for which number is written while it measures", async () => {
    const store = await temporaryStore();
    const options: unknown[] = [];
    const { commit } = store.writer;
    store.writer.commit = (statements, given) => (options.push(given), commit(statements, given));
    createMetrics({ store, sessions: () => new Map() });

    await store.writer.commit([waiting], { owning: 1 });

    expect(options).toEqual([{ owning: 1 }]);
  });
});
