import type { Logger } from "../log.ts";

/** The real `process.exit`, for the gateway itself. */
export const exit: typeof process.exit = process.exit.bind(process);

/**
 * Errors that nobody caught: of a bot's timer, a promise that was left alone, a listener of a library. One record each, and
 * the process lives: what matters is committed in units, so nothing is half done, and a restart would cut off every
 * other number for the fault of one.
 *
 * `process.exit` by somebody else than the gateway becomes such an error. A bot that ended the process would be asked the
 * same message again at the next start, and so on for ever.
 */
export function surviveCrashes(log: Logger): void {
  process.on("unhandledRejection", (error) =>
    log.error({ err: error }, "an unhandled rejection; the gateway keeps running"),
  );
  process.on("uncaughtException", (error) =>
    log.error({ err: error }, "an uncaught error; the gateway keeps running"),
  );
  process.exit = (): never => {
    const refusal = new Error("Bots cannot call process.exit(): SIGTERM ends the gateway.");
    refusal.name = "ProcessExitRefused";
    log.error({ err: refusal }, "refused a call of process.exit()");
    throw refusal;
  };
}
