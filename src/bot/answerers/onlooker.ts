/** What code of a bot threw. */
interface BotFailure {
  bot: string;
  route: string;
  /** Id of the message on the wire. */
  message: string;
  error: unknown;
}

/** Somebody who wants to know what code of bots does besides what becomes of it: the testing kit. The gateway has none. */
export interface Onlooker {
  /** A handler, a dialogue or an observer threw, or did not return in time. */
  failed(failure: BotFailure): void;
  /**
   * Runs the work of a step.
   *
   * @param id the same for the same step of the same message, also after a restart
   */
  step<T>(id: string, work: () => T): T;
}

/** Nobody looks. */
export const NOBODY: Onlooker = { failed: () => undefined, step: (_id, work) => work() };

/** What a bot threw, as a line of the gateway in development; an object in JSON stands behind it. */
export const FAILED_LINE = "bots: failed ";

/** A failure as {@link FAILED_LINE} tells it. */
export interface ToldFailure {
  bot: string;
  route: string;
  /** Id of the message that it was asked about. */
  message: string;
  /** Name and message; the whole stack, when there is one. */
  what: string;
  stack: string;
}

/** Writes each failure as a line, with all that was thrown: in development whoever wrote the message wrote the bot as well. */
export const tellDeveloper: Onlooker = {
  ...NOBODY,
  failed({ bot, route, message, error }) {
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const stack = (error instanceof Error && error.stack) || "";
    const told: ToldFailure = { bot, route, message, what, stack };
    process.stdout.write(`${FAILED_LINE}${JSON.stringify(told)}\n`);
  },
};
