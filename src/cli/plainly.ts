import { createPaint, wantsColour } from "./terminal.ts";

/** Writes a row to standard output. */
export const say = (text = ""): void => void process.stdout.write(`${text}\n`);

/** Colours for standard output; none when it is no terminal that shows them. */
export const paint = createPaint(wantsColour(process.stdout));

/**
 * Makes a command speak plainly: an error becomes one sentence on standard error and exit code 1, never a stack.
 *
 * @param run the command
 */
export function plainly<T>(run: (context: T) => Promise<void>): (context: T) => Promise<void> {
  return async (context) => {
    try {
      await run(context);
    } catch (error) {
      process.stderr.write(`${(error as Error).message}\n`);
      process.exitCode = 1;
    }
  };
}
