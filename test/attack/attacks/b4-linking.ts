import type { Attack } from "../attack.ts";
import { withNumbers } from "../numbers.ts";

const NUMBERS = { short: 6, full: 20 };

/** Each of them gets hundreds of keys, which are made, sealed, stored and uploaded. */
const linking: Attack = {
  name: "numbers that are linked in the same moment",
  class: "B4",
  run: (arena) =>
    withNumbers(
      arena,
      { count: NUMBERS[arena.size], prefix: "316000003", together: true },
      async (numbers) => {
        await Promise.all(numbers.map((number) => arena.sim.waitOnline(number)));
      },
    ),
};

export default linking;
