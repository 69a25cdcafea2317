import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { seededRandom } from "../../src/simulator/inside.ts";
import { openArena, type Arena } from "./arena.ts";
import { POINTS } from "./points.ts";

/** All of them by `npm run crash -- --ways off`. */
const WITHOUT_EVERYDAY = ["before-receive-commit", "after-reply-commit", "before-ack"];
const isOff = process.env["EVERYDAY_PATH"] === "off";

let arena: Arena;
beforeAll(async () => {
  arena = await openArena("one of each", inject("serverEntry"));
});
afterAll(() => arena?.close());

/** One run of each row; `npm run crash` makes twenty. */
describe("killed, and started again: nothing lost, nothing twice, in order", () => {
  const rows = POINTS.filter(({ name }) => !isOff || WITHOUT_EVERYDAY.includes(name)).map(
    (point) => [point.name, point.where, point] as const,
  );
  it.each(rows)("%s: %s", { timeout: 240_000 }, async (_name, _where, point) => {
    const random = seededRandom(point.name);
    const verdict = await point.run(arena, () => random.integer(2 ** 32) / 2 ** 32);
    expect(verdict.messages).toBeGreaterThan(1);
    expect(verdict.problems).toEqual([]);
    expect(verdict).toMatchObject({ lost: 0, duplicated: 0, outOfOrder: 0 });
  });
});
