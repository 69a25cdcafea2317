import { expect } from "vitest";
import { matchers } from "./chats/matching.ts";
import type { Decision, Expected } from "./types.ts";

expect.extend(matchers);

declare module "vitest" {
  // oxlint-disable-next-line typescript/no-explicit-any -- as vitest declares it
  interface Matchers<T = any> {
    /** Passes when some reply of the chat, seen or not, is as expected. */
    toHaveReplied(expected: Expected): T;
    /** Passes when `chat.expect` has looked at every reply. */
    toBeSilent(): T;
    /** Passes when the last message was decided like this. Fields that are not named may be anything. */
    toHaveDecided(expected: Partial<Decision>): Promise<T>;
  }
}
