import { SECOND_MS, type Time } from "../../model/time.ts";
import { Unanswered } from "./unanswered.ts";

/** Baileys waits for thirty seconds; nobody should share an answer that will not come. */
const QUESTION_MS = 8 * SECOND_MS;

/**
 * Asks for many things at a time, but never for one that is being asked for already: whoever wants it too shares that
 * answer, or its failure.
 *
 * @param what the question, see `Unanswered`
 * @param ask answers by key
 * @returns rejects with `Unanswered` when there is no answer within eight seconds
 */
export function askOnce<V>(
  time: Pick<Time, "deadline">,
  what: string,
  ask: (keys: string[]) => Promise<Map<string, V>>,
): (keys: string[]) => Promise<Map<string, V>> {
  const inFlight = new Map<string, Promise<Map<string, V>>>();

  function start(keys: string[]): void {
    const asked = time
      .deadline(QUESTION_MS, ask(keys), () => new Unanswered(what))
      .finally(() => {
        for (const key of keys) inFlight.delete(key);
      });
    for (const key of keys) inFlight.set(key, asked);
  }

  return async (keys) => {
    const fresh = keys.filter((key) => !inFlight.has(key));
    if (fresh.length > 0) start(fresh);
    const asked = keys.map((key) => inFlight.get(key)!);
    const answers = await Promise.all(asked);
    const values = new Map<string, V>();
    for (const [index, key] of keys.entries()) {
      const value = answers[index]!.get(key);
      if (value !== undefined) values.set(key, value);
    }
    return values;
  };
}
