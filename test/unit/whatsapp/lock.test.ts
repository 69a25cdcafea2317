import { describe, expect, it } from "vitest";
import { withLock } from "../../../src/whatsapp/signal/lock.ts";

function gate(): { open(): void; passed: Promise<void> } {
  let open!: () => void;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { open, passed };
}

describe("withLock", () => {
  it("lets those that share an address go one after another, in the order of the calls", async () => {
    const order: string[] = [];
    const first = gate();
    const a = withLock(["x"], async () => {
      order.push("a begins");
      await first.passed;
      order.push("a ends");
    });
    const b = withLock(["y", "x"], async () => void order.push("b"));
    const c = withLock(["y"], async () => void order.push("c"));
    const other = withLock(["z"], async () => void order.push("other"));
    await other;
    first.open();
    await Promise.all([a, b, c]);

    expect(order).toEqual(["a begins", "other", "a ends", "b", "c"]);
  });

  it("goes on after a failure", async () => {
    await expect(withLock(["x"], () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await withLock(["x"], async () => "yes")).toBe("yes");
  });
});
