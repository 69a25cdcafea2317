import { describe, expect, it, vi } from "vitest";
import { findSqld } from "../../_setup/sqld.ts";
import { clustersOnOneServer } from "./members.ts";

const begin = clustersOnOneServer();
const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { interval: 10 });

describe.skipIf(findSqld() === null)("the name of a node", () => {
  it("is refused to a second process while the first runs, in one line that names the setting", async () => {
    const { node } = await begin();
    // Long enough that a slow machine renews it in time.
    const first = await node("gateway-1", { leaseMs: 6_000 });

    const second = node("gateway-1", { leaseMs: 6_000 });

    await expect(second).rejects.toThrow(/^NODE_NAME gateway-1 belongs to another process[^\n]*$/);
    await eventually(() => expect(first.working.size).toBe(256));
    expect(first.nameTaken).toBe(false);
  });

  it("is free at once after an orderly end, and its numbers are as well", async () => {
    const { node } = await begin();
    const first = await node("gateway-1", { leaseMs: 60_000 });
    await first.stop();

    const second = await node("gateway-1", { leaseMs: 60_000 });

    expect(second.working.size).toBe(256);
  });

  it("is that of the next process after a kill, once it is known that nobody renews it", async () => {
    const { node } = await begin();
    const first = await node("gateway-1");
    first.kill();

    const second = await node("gateway-1");

    expect(second.working.size).toBe(256);
  });

  it("is lost to one that was stopped for too long: it writes nothing any more, says why, and ends", async () => {
    const { node } = await begin();
    const first = await node("gateway-1");
    first.freeze();
    const second = await node("gateway-1");
    expect(second.working.size).toBe(256);

    first.thaw();

    await eventually(() => expect(first.nameTaken).toBe(true));
    expect(first.working.size).toBe(0);
    expect(first.lines.filter((line) => line.includes("NODE_NAME gateway-1 belongs"))).toHaveLength(1);
    expect(second.working.size).toBe(256);
  });
});
