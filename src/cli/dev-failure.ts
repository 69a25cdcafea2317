import { relative, sep } from "node:path";
import { FAILED_LINE, type ToldFailure } from "../bot/answerers/onlooker.ts";

/** Calls of an author's code that are worth showing. */
const MOST_PLACES = 4;

/** What the code of a bot has to say about a message. */
interface Said {
  /** Id of the message on the wire. */
  message: string;
  /** In one line, or with more below it. */
  title: string;
}

/** Of pino. */
const WARNING = 40;
const ERROR = 50;

/**
 * What a bot logs about a message: a warning or an error of its author (`ctx.log`), or what the gateway says of its code.
 *
 * @param line of the gateway in development
 * @returns null when the line is something else; what a bot threw is told by {@link failureIn}
 */
export function warningIn(line: string): (Said & { isError: boolean }) | null {
  if (!line.startsWith("{")) return null;
  const { level, bot, route, message, msg, err } = recordOf(line);
  const isTold = typeof bot === "string" && typeof route === "string" && typeof message === "string";
  if (!isTold || typeof msg !== "string" || err !== undefined) return null;
  if (level !== WARNING && level !== ERROR) return null;
  return { message, title: `${bot} at ${route}: ${msg}`, isError: level === ERROR };
}

/** Whether a line warns of a bot's file, not of a message: `GET /bots` has it now. */
export function isOfFile(line: string): boolean {
  if (!line.startsWith("{")) return false;
  const { level, bot, file } = recordOf(line);
  return level === WARNING && typeof bot === "string" && typeof file === "string";
}

function recordOf(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    // Cut off, or no record.
    return {};
  }
}

/**
 * What a bot threw, as a developer reads it: the error, then the places in the folder of bots, the nearest first.
 *
 * @param line of the gateway in development
 * @param folder of the bots, absolute
 * @returns null when the line tells of no failure
 */
export function failureIn(line: string, folder: string): (Said & { places: string[] }) | null {
  if (!line.startsWith(FAILED_LINE)) return null;
  const { bot, route, message, what, stack } = JSON.parse(line.slice(FAILED_LINE.length)) as ToldFailure;
  const places = stack.split("\n").flatMap((frame) => {
    const found = /(?:file:\/\/)?(\/[^\s()?]+)(?:\?[^:]*)?:(\d+):(\d+)\)?$/.exec(frame.trim());
    const [, file = "", row, column] = found ?? [];
    const isOwn = file.startsWith(folder + sep) && !file.includes(`${sep}node_modules${sep}`);
    return isOwn ? [`${relative(folder, file)}:${row}:${column}`] : [];
  });
  return { message, title: `${bot} failed at ${route}: ${what}`, places: places.slice(0, MOST_PLACES) };
}
