import { describe, expect, it } from "vitest";
import { backoffMs, createTime, type TimeSource } from "../../../src/model/time.ts";

/** Time that a test moves. */
function movable() {
  let now = 0;
  const timers = new Set<{ at: number; run: () => void }>();
  const source: TimeSource = {
    now: () => now,
    monotonic: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  return {
    time: createTime(source),
    waiting: () => timers.size,
    move(ms: number) {
      for (const until = now + ms; ;) {
        const [next] = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
        now = next?.at ?? until;
        if (!next) return;
        timers.delete(next);
        next.run();
      }
    },
  };
}

describe("time that is handed in", () => {
  it("repeats until it is called off", () => {
    const { time, move, waiting } = movable();
    let count = 0;

    const cancel = time.every(10, () => count++);
    move(35);
    cancel();
    move(100);

    expect(count).toBe(3);
    expect(waiting()).toBe(0);
  });

  it("may be called off by what it repeats", () => {
    const { time, move } = movable();
    let count = 0;
    const cancel = time.every(10, () => {
      count++;
      cancel();
    });

    move(100);

    expect(count).toBe(1);
  });

  it("pauses until the time has come, or the signal is aborted, and leaves no timer behind", async () => {
    const { time, move, waiting } = movable();
    const abort = new AbortController();
    const slept = time.pause(10);
    const woken = time.pause(1_000_000, abort.signal);

    move(10);
    await slept;
    abort.abort();
    await woken;
    await time.pause(1_000_000, abort.signal);

    expect(waiting()).toBe(0);
  });

  it("gives up work that takes longer than its deadline, and passes on what ends before it", async () => {
    const { time, move, waiting } = movable();
    const late = time.deadline(10, new Promise(() => {}), () => new Error("too late"));
    late.catch(() => {});

    move(10);

    await expect(late).rejects.toThrow("too late");
    await expect(time.deadline(10, Promise.resolve("done"), () => new Error())).resolves.toBe("done");
    await expect(time.deadline(10, Promise.reject(new Error("own")), () => new Error())).rejects.toThrow(
      "own",
    );
    expect(waiting()).toBe(0);
  });

  it("waits for what is being stopped, but no longer than it may, and never rejects", async () => {
    const { time, move } = movable();
    const hanging = time.within(10, new Promise(() => {}));

    move(10);

    await expect(hanging).resolves.toBeUndefined();
    await expect(time.within(10, Promise.reject(new Error("of no use")))).resolves.toBeUndefined();
  });

  it("doubles the pause after each failure, up to a minute", () => {
    expect([1, 2, 3, 6, 7, 50].map(backoffMs)).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000]);
  });
});
