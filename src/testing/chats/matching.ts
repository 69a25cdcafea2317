import { isDeepStrictEqual } from "node:util";
import { describeDecision } from "./expectations.ts";
import { describeExpected, fits } from "./replies.ts";
import type { Conversation, Decision, Expected } from "../types.ts";

/** The result that vitest wants from a matcher. */
interface Matched {
  pass: boolean;
  message: () => string;
}

/** Matchers for `expect.extend(matchers)`. Importing `parley/testing/matchers` does that for you. */
export const matchers = {
  /** Passes when some reply of the chat, seen or not, is as expected. */
  toHaveReplied(chat: Conversation, expected: Expected): Matched {
    const pass = chat.replies().some((reply) => fits(reply, expected));
    return {
      pass,
      message: () =>
        `The bot was ${pass ? "not " : ""}to say ${describeExpected(expected)}.\n\n${chat.transcript().join("\n")}`,
    };
  },

  /** Passes when `chat.expect` has looked at every reply. */
  toBeSilent(chat: Conversation): Matched {
    const pass = chat.unseen().length === 0;
    return {
      pass,
      message: () =>
        `The bot was to say ${pass ? "something" : "nothing more"}.\n\n${chat.transcript().join("\n")}`,
    };
  },

  /** Passes when the last message was decided like this. Fields that are not named may be anything. Await it. */
  async toHaveDecided(chat: Conversation, expected: Partial<Decision>): Promise<Matched> {
    const decided = (await chat.decisions()).at(-1);
    const wanted = Object.entries(expected) as [keyof Decision, unknown][];
    const pass =
      decided !== undefined && wanted.every(([key, value]) => isDeepStrictEqual(decided[key], value));
    return {
      pass,
      message: () =>
        `The last message was ${pass ? "not " : ""}to be decided as ${JSON.stringify(expected)}. Decided: ${
          decided === undefined ? "nothing yet" : describeDecision(decided)
        }\n\n${chat.transcript().join("\n")}`,
    };
  },
};
