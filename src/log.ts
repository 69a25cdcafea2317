import { pino, symbols } from "pino";
import { prettyFactory } from "pino-pretty";
import type { Config } from "./config.ts";
import { createScrubber, type Scrubber } from "./model/scrubber.ts";

/** A pino logger as `createLogger` makes it: secrets in a line are replaced before it is written. */
export type Logger = pino.Logger;

/** Where finished lines go. */
export interface LogTarget {
  write(line: string): void;
}

interface ScrubbedStream extends LogTarget {
  scrubber: Scrubber;
}

/**
 * JSON lines on stdout, or readable ones on a terminal. Everything passes the scrubber as finished text, because a key
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
  ]);
  const pretty = target === undefined && process.stdout.isTTY ? readable() : null;
  const out = target ?? pino.destination({ fd: 1, sync: true });
  const stream: ScrubbedStream = {
    scrubber,
    write: (line) => void out.write(scrubber.scrub(pretty === null ? line : pretty(line))),
  };
  return pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}

function readable(): (line: string) => string {
  const format = prettyFactory({ colorize: true, translateTime: "SYS:HH:MM:ss", singleLine: true });
  return (line) => format(line) ?? "";
}

/** From now on the logger and its children write `[redacted]` for this secret. Other loggers ignore it. */
export function hideSecret(log: Logger, secret: string | Uint8Array): void {
  // Children share their parent's stream, so this reaches all of them, whichever is at hand.
  const stream = (log as unknown as Record<symbol, Partial<ScrubbedStream> | undefined>)[symbols.streamSym];
  stream?.scrubber?.hide(secret);
}
