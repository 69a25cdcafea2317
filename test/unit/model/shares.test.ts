import { expect, it } from "vitest";
import { createShares } from "../../../src/model/shares/shares.ts";

/** Work that goes on until it is told to end, and says that it has begun. */
function slow() {
  let end!: () => void;
  let begun = false;
  const done = new Promise<void>((resolve) => (end = resolve));
  return {
    end,
    hasBegun: () => begun,
    work: async () => {
      begun = true;
      await done;
    },
  };
}

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("work of one number waits for its own, not for that of others, and all together for a place", async () => {
  const turns = createShares({ all: 3, each: 2 });
  const [a, b, c, d, e] = [slow(), slow(), slow(), slow(), slow()];
  const running = [
    turns("1", a.work),
    turns("1", b.work),
    turns("1", c.work),
    turns("2", d.work),
    turns("3", e.work),
  ];
  await turnOfTheLoop();
  expect([a, b, c, d, e].map(({ hasBegun }) => hasBegun())).toEqual([true, true, false, true, false]);
  a.end();
  await turnOfTheLoop();
  expect([c, e].filter(({ hasBegun }) => hasBegun())).toHaveLength(1);
  for (const each of [b, c, d, e]) each.end();
  await Promise.all(running);
  expect([c, e].every(({ hasBegun }) => hasBegun())).toBe(true);
});

it("work that fails gives its turn back", async () => {
  const turns = createShares({ all: 1, each: 1 });
  await expect(turns("1", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await turns("1", async () => "next")).toBe("next");
});

it("whoever has nothing under way has a place kept, however much others ask for", async () => {
  const turns = createShares({ all: 4, each: 3, most: 6 });
  const hostile = Array.from({ length: 24 }, slow);
  const running = hostile.map((work, number) => turns(`account ${number % 2}`, work.work));
  const [victim, second] = [slow(), slow()];
  running.push(turns("victim", victim.work), turns("victim", second.work));
  await turnOfTheLoop();
  expect(hostile.filter(({ hasBegun }) => hasBegun())).toHaveLength(4);
  expect([victim, second].map(({ hasBegun }) => hasBegun())).toEqual([true, false]);
  hostile[0]!.end();
  victim.end();
  await turnOfTheLoop();
  // The next place is for who has least, not for who has asked first.
  expect(second.hasBegun()).toBe(true);
  for (const each of [...hostile, second]) each.end();
  await Promise.all(running);
});

it("who leaves while he waits takes no turn", async () => {
  const turns = createShares({ all: 1, each: 1 });
  const [first, never] = [slow(), slow()];
  const leaving = new AbortController();
  const running = turns("a", first.work);
  const waiting = turns("a", never.work, leaving.signal);
  leaving.abort(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
  first.end();
  await running;
  expect(await turns("a", async () => "next")).toBe("next");
  expect(never.hasBegun()).toBe(false);
});
