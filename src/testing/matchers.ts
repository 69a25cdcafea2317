import { expect } from "vitest";
import { matchers } from "./matching.ts";
import type { Decision, Expected } from "./types.ts";

expect.extend(matchers);

declare module "vitest" {
  // oxlint-disable-next-line typescript/no-explicit-any -- as vitest declares it
  interface Matchers<T = any> {
    /** Some reply of the chat, seen or not, is this one. */
    toHaveReplied(expected: Expected): T;
    /** There is no reply that `chat.expect` has not looked at. */
    toBeSilent(): T;
    /** The last message was decided like this; what is not named may be anything. */
    toHaveDecided(expected: Partial<Decision>): Promise<T>;
  }
}
