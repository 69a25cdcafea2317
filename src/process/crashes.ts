import type { Logger } from "../log.ts";

/** The real `process.exit`, for the gateway itself. */
export const exit: typeof process.exit = process.exit.bind(process);

/** What may be logged of an error that nobody caught: its text may quote what people wrote, where it came from does not. */
export function describeUncaught(error: unknown): { type: string; code?: string; stack?: string } {
  if (!(error instanceof Error)) return { type: error === null ? "null" : typeof error };
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  const { code } = error as NodeJS.ErrnoException;
  return {
    type: error.name,
    ...(typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) && { code }),
    stack: frames.slice(0, 8).join("\n"),
  };
}

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
    log.error({ error: describeUncaught(error) }, "a rejection that nobody handled; the gateway goes on"),
  );
  process.on("uncaughtException", (error) =>
    log.error({ error: describeUncaught(error) }, "an error that nobody caught; the gateway goes on"),
  );
  process.exit = (): never => {
    const refusal = new Error("process.exit() is not for bots: the gateway ends by SIGTERM.");
    refusal.name = "ProcessExitRefused";
    log.error({ error: describeUncaught(refusal) }, "something called process.exit(); refused");
    throw refusal;
  };
}
