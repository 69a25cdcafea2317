import { pino, symbols } from "pino";
import { prettyFactory } from "pino-pretty";
import type { Config } from "./config.ts";
import { LoggedError } from "./model/errors/logged-error.ts";
import { createScrubber, type Scrubber } from "./model/scrubber.ts";

/** What stands in a record beside its text: numbers, ids, words of the gateway's own; never what people wrote. */
export interface LogFields {
  /** What was thrown. The record has its kind, code and place, see {@link LoggedError}. */
  err?: unknown;
  /** Record of the number. */
  device?: number;
  /** Id of the message on the wire. */
  message?: string;
  [field: string]: unknown;
  // One name for one thing.
  error?: never;
  exception?: never;
  cause?: never;
  deviceId?: never;
  number?: never;
  sender?: never;
  messageId?: never;
}

interface LogMethod {
  (fields: LogFields, text: string): void;
  (text: string): void;
}

/** The one kind of logger there is, as `createLogger` makes it: secrets in a line are replaced before it is written. */
export interface Logger {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  /** The fields stand in each of its records. */
  child(fields: LogFields): Logger;
  isLevelEnabled(level: "debug" | "info" | "warn" | "error"): boolean;
}

/** Where finished lines go. */
export interface LogTarget {
  write(line: string): void;
}

interface ScrubbedStream extends LogTarget {
  scrubber: Scrubber;
}

/**
 * JSON lines on stdout, or readable ones: on a terminal, or where LOG_FORMAT says so. Everything passes the scrubber as finished text, because a key
 * may hide anywhere in a line: in a URL, in an error's message, in its stack. Message texts are never handed to it.
 *
 * @param target where lines go; default: stdout, written at once, so that the last line before a crash is not lost
 */
export function createLogger(config: Config, target?: LogTarget): Logger {
  const scrubber = createScrubber([
    config.masterKey,
    config.adminToken,
    config.databaseAuthToken,
    config.redisUrl,
    // Of many receivers the address is all that is secret.
    config.alertUrl,
    config.alertSecret,
  ]);
  const pretty = isPretty(config, target === undefined) ? readable(target === undefined) : null;
  const out = target ?? pino.destination({ fd: 1, sync: true });
  const stream: ScrubbedStream = {
    scrubber,
    write: (line) => void out.write(scrubber.scrub(pretty === null ? line : pretty(line))),
  };
  const { isoTime } = pino.stdTimeFunctions;
  const logger = pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: isoTime,
      formatters: { log: withoutErrors },
      // pino's own would give what has a message the name of its class instead of the error's.
      serializers: { err: (shown: unknown) => shown },
      hooks: { logMethod: withoutMessageOfError },
    },
    stream,
  );
  return logger;
}

/** Bots log as well, and under any name: an error is never written as it is, nor lost as `{}`. */
function withoutErrors(fields: Record<string, unknown>): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const isError = name === "err" || value instanceof Error;
    shown[name] = isError && !(value instanceof LoggedError) ? new LoggedError(value) : value;
  }
  return shown;
}

/** Without a text of its own, a record of pino's has the error's message for one. */
function withoutMessageOfError(
  this: pino.Logger,
  [fields, ...texts]: Parameters<pino.LogFn>,
  write: pino.LogFn,
): void {
  if (typeof fields === "string") return write.call(this, fields, ...texts);
  const [text = "", ...values] = texts;
  write.call(this, fields instanceof Error ? { err: fields } : fields, text, ...values);
}

/** Whether lines are for people. @param toStdout whether they go there */
export const isPretty = ({ logFormat }: Pick<Config, "logFormat">, toStdout = true): boolean =>
  logFormat === null ? toStdout && process.stdout.isTTY : logFormat === "pretty";

function readable(toStdout: boolean): (line: string) => string {
  const colorize = toStdout && process.stdout.isTTY && !process.env["NO_COLOR"];
  const format = prettyFactory({ colorize, translateTime: "SYS:HH:MM:ss", singleLine: true });
  return (line) => format(line) ?? "";
}

/** From now on the logger and its children write `[redacted]` for this secret. Other loggers ignore it. */
export function hideSecret(log: Logger, secret: string | Uint8Array): void {
  // Children share their parent's stream, so this reaches all of them, whichever is at hand.
  const stream = (log as unknown as Record<symbol, Partial<ScrubbedStream> | undefined>)[symbols.streamSym];
  stream?.scrubber?.hide(secret);
}
