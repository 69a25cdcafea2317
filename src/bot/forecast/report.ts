import type { Store } from "../../store/store.ts";
import type { LoadedBots } from "../files/load.ts";
import { lookAhead } from "./look-ahead.ts";
import { sentencesOf } from "./sentences.ts";
import type { Forecast } from "./types.ts";

/** How a report is made. */
export interface ReportOptions {
  /** The whole forecast as one JSON object instead of sentences. */
  json: boolean;
  /** Before it one line of JSON for each open conversation. */
  each: boolean;
  /** Also what is not lost must fit. */
  strict: boolean;
  /** Takes one line, without its break. */
  say(line: string): void;
}

/** Exit codes of `bots check`: nothing is lost, something would be, and with `--strict` something does not fit. */
export const CODES = { good: 0, lost: 2, misfits: 3 } as const;

/** Arguments of a command that reports. */
export const readReport = (args: readonly string[], say: (line: string) => void): ReportOptions => ({
  json: args.includes("--json"),
  each: args.includes("--each"),
  strict: args.includes("--strict"),
  say,
});

/** Says what becomes of what is stored. @returns the exit code */
export async function report(
  store: Pick<Store, "pages" | "box" | "now">,
  loaded: LoadedBots,
  { json, each, strict, say }: ReportOptions,
): Promise<number> {
  const onEach = each ? (one: object): void => say(JSON.stringify(one)) : undefined;
  const found = await lookAhead(store, loaded, { ...(onEach && { onEach }) });
  if (json) say(JSON.stringify(found));
  else if (!each) for (const line of linesOf(found)) say(line);
  if (found.lost > 0) return CODES.lost;
  return strict && found.misfits > 0 ? CODES.misfits : CODES.good;
}

function linesOf(found: Forecast): string[] {
  const lines = sentencesOf(found).map(({ text }) => text);
  return lines.length === 0 ? ["No stored data depends on the bots' code."] : lines;
}
