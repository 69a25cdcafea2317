import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openArena, type OpenArena } from "./arena.ts";
import { loadAttacks } from "./load.ts";
import { createYardstick, type Yardstick } from "./yardstick.ts";

const attacks = await loadAttacks();

let arena: OpenArena;
let yardstick: Yardstick;
beforeAll(async () => {
  arena = await openArena("short", inject("serverEntry"));
  yardstick = await createYardstick(arena, true);
});
afterAll(async () => {
  yardstick?.close();
  await arena?.close();
});

// In the sizes that `npm run attack -- --short` has; there all of it is printed.
describe("while something hostile runs, everybody else is answered and sends", () => {
  it.each(attacks.map((attack) => [`${attack.class}: ${attack.name}`, attack] as const))(
    "%s",
    async (_, attack) => {
      const outcome = await yardstick.measure(attack);
      expect(outcome.broken).toEqual([]);
      expect(outcome.answers).toBeGreaterThan(0);
      expect(outcome.sends).toBeGreaterThan(0);
    },
  );
});
