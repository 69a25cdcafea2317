import { describe, expect, it } from "vitest";
import { createTime, systemTime } from "../../../src/model/time.ts";
import { askOnce } from "../../../src/whatsapp/devices/ask-once.ts";

/** A question whose answers are given by hand, under a clock that is moved by hand. */
function start() {
  const asked: { keys: string[]; answer(): void; fail(): void }[] = [];
  const timers: (() => void)[] = [];
  const time = createTime({ ...systemTime, after: (_ms, run) => (timers.push(run), () => undefined) });
  const ask = askOnce(
    time,
    "a question",
    (keys) =>
      new Promise<Map<string, string>>((resolve, reject) => {
        const answer = (): void => resolve(new Map(keys.map((key) => [key, `answer to ${key}`])));
        asked.push({ keys, answer, fail: () => reject(new Error("no")) });
      }),
  );
  return { ask, asked, late: () => timers.splice(0).forEach((run) => run()) };
}

describe("a question", () => {
  it("that is on its way is not asked again", async () => {
    const { ask, asked } = start();
    const [one, other] = [ask(["a", "b"]), ask(["b", "c"])];
    for (const question of asked) question.answer();
    expect(asked.map(({ keys }) => keys)).toEqual([["a", "b"], ["c"]]);
    expect([...(await one)]).toEqual([
      ["a", "answer to a"],
      ["b", "answer to b"],
    ]);
    expect([...(await other).keys()]).toEqual(["b", "c"]);
    void ask(["a"]);
    expect(asked).toHaveLength(3);
  });

  it("that fails fails for all who wait for it, and is asked anew", async () => {
    const { ask, asked } = start();
    const waiting = [ask(["a"]), ask(["a"])];
    asked[0]!.fail();
    for (const one of waiting) await expect(one).rejects.toThrow("no");
    void ask(["a"]);
    expect(asked).toHaveLength(2);
  });

  it("that nobody answers is waited for no longer", async () => {
    const { ask, asked, late } = start();
    const waiting = ask(["a"]);
    late();
    await expect(waiting).rejects.toThrow("WhatsApp did not answer a question.");
    const again = ask(["a"]);
    asked[1]!.answer();
    expect((await again).size).toBe(1);
  });
});
