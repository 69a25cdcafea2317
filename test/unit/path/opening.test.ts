import { expect, it } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import { startPath } from "./harness.ts";

const NUMBERS = 20;
/** Eight numbers are opened at a time: a thousand, at a server that answers in 5 ms, take less than 8 s with as many. */
const MOST_QUESTIONS = 12;

it("a number is opened with a few questions to the database, so that a thousand of them are open within seconds", async () => {
  let asked = 0;
  const counting = (store: Store): Store => {
    const read: Store["read"] = (...args) => (asked++, store.read(...args));
    const readOne: Store["readOne"] = (...args) => (asked++, store.readOne(...args));
    const pages: Store["pages"] = (...args) => (asked++, store.pages(...args));
    return Object.assign(Object.create(store) as Store, { read, readOne, pages });
  };
  const numbers = Array.from({ length: NUMBERS }, (_, index) => index + 1);
  const run = await startPath({ numbers, wrap: counting });
  asked = 0;
  for (const deviceId of numbers) await run.path.open(deviceId);
  expect(asked).toBeGreaterThan(NUMBERS);
  expect(asked / NUMBERS).toBeLessThanOrEqual(MOST_QUESTIONS);
});
