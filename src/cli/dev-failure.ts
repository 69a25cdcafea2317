import { relative, sep } from "node:path";
import { FAILED_LINE, type ToldFailure } from "../bot/answerers/onlooker.ts";

/** Calls of an author's code that are worth showing. */
const MOST_PLACES = 4;

/**
 * What a bot threw, as a developer reads it: the error, then the places in the folder of bots, the nearest first.
 *
 * @param line of the gateway in development
 * @param folder of the bots, absolute
 * @returns null when the line tells of no failure
 */
export function failureIn(line: string, folder: string): { title: string; places: string[] } | null {
  if (!line.startsWith(FAILED_LINE)) return null;
  const { bot, route, what, stack } = JSON.parse(line.slice(FAILED_LINE.length)) as ToldFailure;
  const places = stack.split("\n").flatMap((frame) => {
    const found = /(?:file:\/\/)?(\/[^\s()?]+)(?:\?[^:]*)?:(\d+):(\d+)\)?$/.exec(frame.trim());
    const [, file = "", row, column] = found ?? [];
    const isOwn = file.startsWith(folder + sep) && !file.includes(`${sep}node_modules${sep}`);
    return isOwn ? [`${relative(folder, file)}:${row}:${column}`] : [];
  });
  return { title: `${bot} failed at ${route}: ${what}`, places: places.slice(0, MOST_PLACES) };
}
