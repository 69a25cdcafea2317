import { isDeepStrictEqual } from "node:util";
import { describeDecision } from "./expectations.ts";
import { describeExpected, fits } from "./replies.ts";
import type { Conversation, Decision, Expected } from "./types.ts";

/** What vitest wants of a matcher. */
interface Matched {
  pass: boolean;
  message: () => string;
}

/** For `expect.extend(matchers)`; importing `parley/testing/matchers` does that. */
export const matchers = {
  /** Some reply of the chat, seen or not, is this one. */
  toHaveReplied(chat: Conversation, expected: Expected): Matched {
    const pass = chat.replies().some((reply) => fits(reply, expected));
    return {
      pass,
      message: () =>
        `The bot was ${pass ? "not " : ""}to say ${describeExpected(expected)}.\n\n${chat.transcript().join("\n")}`,
    };
  },

  /** There is no reply that `chat.expect` has not looked at. */
  toBeSilent(chat: Conversation): Matched {
    const pass = chat.unseen().length === 0;
    return {
      pass,
      message: () =>
        `The bot was to say ${pass ? "something" : "nothing more"}.\n\n${chat.transcript().join("\n")}`,
    };
  },

  /** The last message was decided like this; what is not named may be anything. To be awaited. */
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
