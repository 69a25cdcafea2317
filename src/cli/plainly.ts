import { GatewayRefusal } from "./gateway-client.ts";
import { inOwnWords } from "./place.ts";
import { createPaint, wantsColour, type Output } from "./terminal.ts";

/** Whether the command was asked for one JSON document on standard output, by `--json`. What stands behind `--` is no option. */
export const asJson = process.argv.slice(2, endOfOptions(process.argv)).includes("--json");

/** Where a person is talked to: not on standard output when that is for a program. */
export const forPeople: Output = asJson ? process.stderr : process.stdout;

/** Writes a row to standard output; nothing of it with `--json`. */
export const say = (text = ""): void => {
  if (!asJson) process.stdout.write(`${inOwnWords(text)}\n`);
};

/** Writes a row to whoever sits there and has to do something, in any case. */
export const tell = (text = ""): void => void forPeople.write(`${inOwnWords(text)}\n`);

/** Colours for standard output; none when it is no terminal that shows them. */
export const paint = createPaint(!asJson && wantsColour(process.stdout));

/** What a command gives back that has written its JSON itself. */
export const WRITTEN: unique symbol = Symbol("written");

/**
 * Makes a command speak plainly: its document is written with `--json`, and an error becomes one sentence on standard error and
 * exit code 1, never a stack.
 *
 * @param run the command; what it gives back is its document
 */
export function plainly<T>(
  run: (context: T) => Promise<object | typeof WRITTEN>,
): (context: T) => Promise<void> {
  return async (context) => {
    try {
      const document = await run(context);
      if (asJson && document !== WRITTEN) writeDocument(document);
    } catch (error) {
      fail(error as Error);
    }
  };
}

/** Ends the command as failed: a sentence for people and, with `--json`, `{"error": {"message", "code"}}` for programs. */
export function fail(error: Error): void {
  process.stderr.write(`${inOwnWords(error.message)}\n`);
  process.exitCode = 1;
  if (!asJson) return;
  const refusal = error instanceof GatewayRefusal ? error : null;
  writeDocument({
    error: {
      message: inOwnWords(error.message),
      code: refusal?.code ?? null,
      ...(refusal !== null && { status: refusal.status }),
    },
  });
}

const writeDocument = (document: object): void =>
  void process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);

function endOfOptions(args: readonly string[]): number | undefined {
  const end = args.indexOf("--", 2);
  return end === -1 ? undefined : end;
}
