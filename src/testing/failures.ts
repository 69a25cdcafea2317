import type { Onlooker } from "../bot/answerers/onlooker.ts";

/** What code of bots threw in a test, and nobody has looked at. */
export interface Failures extends Pick<Onlooker, "failed"> {
  /** The first since the last look, as an error that fails the test; null when there was none. */
  take(): Error | null;
}

/** Thrown when a handler threw, or did not return in time. `stack` is that of the handler's error, and `cause` is the error. */
export class BotFailedError extends Error {
  constructor({ bot, route, error }: Parameters<Onlooker["failed"]>[0]) {
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    super(
      `The bot "${bot}" failed at ${route}: ${what}\nA test that means it says so: createTestChat(bots, { allowErrors: true }).`,
      { cause: error },
    );
    this.name = "BotFailedError";
    const frames = error instanceof Error ? /^\s+at [^]*/m.exec(error.stack ?? "")?.[0] : undefined;
    if (frames !== undefined) this.stack = `${this.name}: ${this.message}\n${frames}`;
  }
}

/**
 * @param allowed nothing that bots throw is a failure of the test
 * @param isKnown what fails the test in another way
 */
export function createFailures(allowed: boolean, isKnown: (error: unknown) => boolean): Failures {
  let first: Error | null = null;
  return {
    failed(failure) {
      if (!allowed && !isKnown(failure.error)) first ??= new BotFailedError(failure);
    },
    take() {
      const taken = first;
      first = null;
      return taken;
    },
  };
}
