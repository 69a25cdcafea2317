/** How far causes of causes are followed. */
const MOST_CAUSES = 4;
const MOST_FRAMES = 8;
/** `at name (file:1:2)`, `at async file:///x.ts:1:2`, `at new X (node:internal/x:1:2)`: a place in code, and nothing else. */
const FRAME = /^\s+at [^\n]{0,300}(?::\d{1,9}:\d{1,9}|<anonymous>|native)\)?$/;
const NAME = /^[A-Za-z_$][\w$.]{0,63}$/;
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

/**
 * What may stand of an error in the log: its kind, its code and the place it was thrown at, of its causes as well. Its
 * message may not: libraries quote in it what people wrote, addresses with their queries, and values of rows.
 */
export class LoggedError {
  /** Name of the error, or what was thrown instead of one (`string`, `null`). */
  readonly type: string;
  /** As the system, SQLite or Parley itself calls it: `ECONNREFUSED`, `SQLITE_BUSY`, `FILE_NOT_USABLE`; HTTP status of an answer. */
  readonly code?: string | number;
  /** Given by those who know that no word of a person stands in it. */
  readonly message?: string;
  /** Frames, without the message that stands before them. */
  readonly stack?: string;
  readonly cause?: LoggedError;

  constructor(error: unknown, { message, depth = 0 }: { message?: string; depth?: number } = {}) {
    this.type = typeOf(error);
    if (message !== undefined) this.message = message;
    if (!(error instanceof Error)) return;
    const code = codeOf(error);
    if (code !== undefined) this.code = code;
    const frames = framesOf(error);
    if (frames !== "") this.stack = frames;
    // Of several failures at once, the first says most.
    const cause: unknown = error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
    if (cause !== undefined && depth < MOST_CAUSES) this.cause = new LoggedError(cause, { depth: depth + 1 });
  }
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return error === null ? "null" : typeof error;
  // Anybody may set a name, also to a sentence.
  if (NAME.test(error.name)) return error.name;
  return NAME.test(error.constructor.name) ? error.constructor.name : "Error";
}

function codeOf(error: Error): string | number | undefined {
  const { code, output } = error as { code?: unknown; output?: { statusCode?: unknown } };
  if (typeof code === "string" && CODE.test(code)) return code;
  return [code, output?.statusCode].find((one) => Number.isSafeInteger(one)) as number | undefined;
}

/** A message may have lines that look like frames, so it is cut off first. */
function framesOf({ stack = "", message }: Error): string {
  const said = message === "" ? -1 : stack.indexOf(message);
  const places = said === -1 ? stack : stack.slice(said + message.length);
  const frames: string[] = [];
  // From the end: a message that was changed after the error was made is no part of what stands below it.
  for (const line of places.split("\n").toReversed()) {
    if (!FRAME.test(line)) break;
    frames.unshift(line);
  }
  return frames.slice(0, MOST_FRAMES).join("\n");
}
