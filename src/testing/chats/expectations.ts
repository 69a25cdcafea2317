import { describeExpected, describeReply, fits } from "./replies.ts";
import type { Room } from "./room.ts";
import type { Conversation, Decision, Expected, Reply } from "../types.ts";

interface ExpectationDeps {
  settle(): Promise<void>;
  room: Room;
  decisions(): Promise<Decision[]>;
  /** What bots have logged as wrong. */
  complaints(): readonly string[];
}

/** The half of a conversation that a test asserts with. */
type Expectations = Pick<Conversation, "expect" | "expectReminder" | "expectNothing" | "expectSilence">;

/** What a test says of a conversation; replies are looked at one after the other. */
export function createExpectations({ settle, room, decisions, complaints }: ExpectationDeps): Expectations {
  /** What people need to see why, at the line of the test: `at` was made there. */
  async function failure(what: string, at: Error): Promise<Error> {
    const decided = (await decisions()).at(-1);
    const error = new Error(
      [
        what,
        "",
        ...room.lines,
        "",
        decided === undefined ? "Nothing was decided yet." : `Decided: ${describeDecision(decided)}`,
        ...complaints().map((line) => `Logged: ${line}`),
      ].join("\n"),
    );
    error.name = "AssertionError";
    error.stack = `${error.name}: ${error.message}\n${framesOf(at)}`;
    return error;
  }

  async function next(expected: Expected | undefined, at: Error): Promise<Reply> {
    await settle();
    const reply = room.replies[room.seen];
    const wanted = expected === undefined ? "anything" : describeExpected(expected);
    if (reply === undefined)
      throw await failure(`The bot was to say ${wanted}, and has said nothing more.`, at);
    if (expected !== undefined && !fits(reply, expected))
      throw await failure(
        `The bot was to say ${wanted}, and has said ${JSON.stringify(describeReply(reply))}.`,
        at,
      );
    room.seen++;
    return reply;
  }

  async function nothing(at: Error): Promise<void> {
    await settle();
    const reply = room.replies[room.seen];
    if (reply !== undefined)
      throw await failure(
        `The bot was to say nothing, and has said ${JSON.stringify(describeReply(reply))}.`,
        at,
      );
  }

  const self: Expectations = {
    expect: (expected) => next(expected, calledBy(self.expect)),
    async expectReminder(expected) {
      const at = calledBy(self.expectReminder);
      const decided = (await decisions()).at(-1);
      if (!decided?.route?.startsWith("timer:"))
        throw await failure("The bot was to remind by itself, and has not.", at);
      return next(expected, at);
    },
    expectNothing: () => nothing(calledBy(self.expectNothing)),
    async expectSilence(reason) {
      const at = calledBy(self.expectSilence);
      await nothing(at);
      const decided = (await decisions()).at(-1);
      if (reason === undefined) return;
      if (decided === undefined || !reasonsOf(decided).includes(reason))
        throw await failure(`The bot was to be silent because of ${reason}.`, at);
    },
  };
  return self;
}

/** Remembers who called: after the first pause nobody could tell. */
function calledBy(method: (...args: never[]) => unknown): Error {
  const at = new Error("called here");
  Error.captureStackTrace(at, method);
  return at;
}

const framesOf = ({ stack = "" }: Error): string => stack.split("\n").slice(1).join("\n");

function reasonsOf({ by, guard, trail }: Decision): (string | null | undefined)[] {
  const steps = trail.flatMap((step) => [step.by.replace(/^guard:/, ""), step.outcome, step.detail]);
  return [guard, by, by === null && guard === null ? "nobody" : null, ...steps];
}

/** A decision in one line, for the message of a failed test. */
export function describeDecision({ by, route, guard, trail }: Decision): string {
  const steps = trail.map(({ by, outcome, detail }) => `${by} ${outcome}${detail ? ` (${detail})` : ""}`);
  const head = by === null ? "nobody" : `${by}${route === null ? "" : ` by ${route}`}`;
  return `${head}${guard === null ? "" : `, guard ${guard}`}${steps.length > 0 ? `: ${steps.join(", ")}` : ""}`;
}
