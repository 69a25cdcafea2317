import type { Simulator } from "../../src/simulator/types.ts";

/**
 * Contacts write in parallel, each waits for its reply before it writes again.
 *
 * @returns when all were answered: how long each answer took, milliseconds
 */
export async function roundTrips(
  sim: Simulator,
  people: string[],
  to: string,
  text: string,
  count: number,
): Promise<number[]> {
  const each = Math.ceil(count / people.length);
  const took: number[] = [];
  await Promise.all(
    people.map(async (person) => {
      let since = (await sim.messages(person, { from: to })).at(-1)?.seq ?? 0;
      for (let i = 0; i < each; i++) {
        const started = performance.now();
        await sim.sendText(person, to, text);
        since = (await sim.waitForMessage(person, { from: to, since }, 30_000)).seq;
        took.push(performance.now() - started);
      }
    }),
  );
  return took;
}
