import { sumOf } from "./tally.ts";
import type { BotForecast, Counts, DialogueForecast, Forecast, SessionForecast } from "./types.ts";

/** One line of a forecast, for people; `bot` is empty for what belongs to none. */
export interface ForecastLine {
  bot: string;
  text: string;
}

const MOST_NAMED = 5;

/**
 * What becomes of what is stored, for people: a line for each bot that has stored something, `booking: 14 open, 13 go on, 1 is
 * asked "born" again; 412 sessions, 3 do not fit`, and one for each of its dialogues when it has several.
 */
export function sentencesOf({ bots, unreadable }: Forecast): ForecastLine[] {
  const lines = bots.flatMap(linesOf);
  if (unreadable === 0) return lines;
  return [...lines, { bot: "", text: `${unreadable} rows cannot be decrypted: see \`parley doctor\`` }];
}

function linesOf(found: BotForecast): ForecastLine[] {
  const { bot, state, dialogues } = found;
  const rest = [sessionsOf(found.sessions), timersOf(found), bindingsOf(found)].filter((part) => part !== "");
  const line = (name: string, parts: string[]): ForecastLine[] =>
    parts.length === 0 ? [] : [{ bot, text: `${name}: ${parts.join("; ")}` }];
  if (state === "gone")
    return line(bot, [`no bot has this id any more${wasCure(bot)}`, ...gone(found), ...rest]);
  const broken = state === "broken" ? ["its file cannot be loaded"] : [];
  const [only, ...more] = dialogues;
  if (only === undefined)
    return line(
      bot,
      [...broken, ...rest].filter(() => rest.length > 0),
    );
  if (more.length === 0) return line(bot, [...broken, dialogueOf(only), ...rest]);
  return [
    ...line(bot, [...broken, dialogueOf(together(dialogues)), ...rest]),
    ...dialogues.flatMap((one) => line(`${bot}/${one.dialogue}`, [dialogueOf(one)])),
  ];
}

const wasCure = (bot: string): string => ` (a renamed bot needs \`was: ${JSON.stringify(bot)}\`)`;

function gone({ dialogues }: BotForecast): string[] {
  const open = dialogues.reduce((sum, one) => sum + one.open, 0);
  return open === 0 ? [] : [`${open} open, no bot continues ${open === 1 ? "it" : "them"}`];
}

/** The sum of several. */
function together(dialogues: readonly DialogueForecast[]): DialogueForecast {
  const sum: DialogueForecast = structuredClone(dialogues[0]!);
  for (const one of dialogues.slice(1))
    for (const [key, value] of Object.entries(one) as [keyof DialogueForecast, number | string | Counts][]) {
      if (typeof value === "number") (sum[key] as number) += value;
      else if (typeof value === "object" && value !== null)
        for (const [name, n] of Object.entries(value))
          (sum[key] as Counts)[name] = ((sum[key] as Counts)[name] ?? 0) + n;
    }
  return { ...sum, kind: sum.kind ?? "" };
}

function dialogueOf(found: DialogueForecast): string {
  const { open, kind } = found;
  if (kind === null && found.paused === 0)
    return `${open} open, the bot has no ${JSON.stringify(found.dialogue)} any more: ${end(open)}`;
  const parts = [
    `${open} open`,
    n(found.goes_on, "goes on", "go on"),
    ...each(found.asked_new, (count, key) => `${are(count)} asked ${key} first`),
    ...each(found.does, (count, key) => `${n(count, "does", "do")} ${key} first`),
    ...each(found.waits, (count, key) => `${n(count, "waits", "wait")} for ${key} first`),
    n(found.completes, "is complete with the next message", "are complete with the next message"),
    ...each(
      found.migrates,
      (count, key) =>
        `${n(count, "goes", "go")} through onChange and ${count === 1 ? "is" : "are"} asked ${key}`,
    ),
    ...each(found.asked_again, (count, key) => `${are(count)} asked ${key} again`),
    n(found.restarts, "starts over", "start over"),
    end(found.ends),
    ...each(found.fails, (count, error) => `${n(count, "fails", "fail")} (${error})`, false),
    n(found.paused, "waits: the bot does not run there", "wait: the bot does not run there"),
    ...each(
      found.gone_choices,
      (count, key) => `${count} ${count === 1 ? "was" : "were"} shown ${key}, which is gone`,
    ),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

const end = (count: number): string => n(count, "ends", "end");
const are = (count: number): string => `${count} ${count === 1 ? "is" : "are"}`;
const n = (count: number, one: string, many: string): string =>
  count === 0 ? "" : `${count} ${count === 1 ? one : many}`;

function each(counts: Counts, say: (count: number, key: string) => string, quoted = true): string[] {
  const all = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  const named = all
    .slice(0, MOST_NAMED)
    .map(([key, count]) => say(count, quoted ? JSON.stringify(key) : key));
  const rest = sumOf(Object.fromEntries(all.slice(MOST_NAMED)));
  return rest === 0 ? named : [...named, say(rest, "something else")];
}

function sessionsOf({ all, completed, migrated, misfits, fails }: SessionForecast): string {
  if (all === 0) return "";
  const wrong = sumOf(misfits);
  return [
    `${all} ${all === 1 ? "session" : "sessions"}`,
    n(completed, "gets initial() beneath it", "get initial() beneath them"),
    n(migrated, "goes through migrate", "go through migrate"),
    wrong === 0
      ? ""
      : `${n(wrong, "does", "do")} not fit (${Object.keys(misfits).slice(0, MOST_NAMED).join("; ")})`,
    ...each(fails, (count, error) => `${n(count, "fails", "fail")} (${error})`, false),
  ]
    .filter((part) => part !== "")
    .join(", ");
}

function timersOf({ timers, state }: BotForecast): string {
  if (timers.all === 0) return "";
  const lost = each(
    timers.gone,
    (count, key) => `${count} ${count === 1 ? "has" : "have"} no b.timer(${key}) any more`,
  );
  if (state !== "gone" && lost.length === 0) return "";
  return [`${timers.all} ${timers.all === 1 ? "timer" : "timers"}`, ...lost].join(", ");
}

const at = (count: number): string => `${count} ${count === 1 ? "number" : "numbers"}`;

function bindingsOf({ bindings, state }: BotForecast): string {
  if (state === "gone") return bindings.all === 0 ? "" : `bound at ${at(bindings.all)}`;
  return bindings.misfits === 0 ? "" : `its settings do not fit at ${at(bindings.misfits)}: it is off there`;
}
