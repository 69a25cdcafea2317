import type { Statement } from "../model/statement.ts";
import { effectsOf, stepsKeptBy } from "./effects.ts";
import type { Side } from "./gateway/life.ts";
import { openTestChat } from "./open.ts";
import type { TestBots, TestChatOptions } from "./options.ts";
import { beginningsSoFar } from "./gateway/steps.ts";
import type { TestChat } from "./types.ts";

/** Options of `crashEverywhere`, besides bots and script. */
export interface CrashOptions extends TestChatOptions {
  /** Prepares each chat before the script, for instance with stubs. No kill happens here. */
  prepare?: (chat: TestChat) => unknown;
}

/** How much `crashEverywhere` tried. */
export interface CrashReport {
  /** Commits of the undisturbed run. The process was killed once before and once after each. */
  commits: number;
  runs: number;
}

/** Thrown when a kill made a difference. */
export class CrashDifferenceError extends Error {
  constructor(point: string, difference: string, cause?: unknown) {
    super(`Killed ${point}, the chat went on differently:\n\n${difference}`, { cause });
    this.name = "CrashDifferenceError";
  }
}

interface Point {
  commit: number;
  side: Side;
}

interface Outcome {
  transcripts: Record<string, string[]>;
  /** What was asked of the network to change something. */
  effects: string[];
  /** What each commit was about. */
  commits: string[];
  error: unknown;
}

/**
 * Runs the script once undisturbed. Then it runs the script once for every commit and both sides of it: the process is killed
 * there, starts again on the same database, and the script continues. People must see the same each time. Requests that
 * change something (all but GET and HEAD) must be the same too. A repeated request counts as one only within the same step,
 * or under the same `Idempotency-Key`.
 *
 * @throws {CrashDifferenceError} with the point and a diff; in the undisturbed run, whatever the script throws
 */
export async function crashEverywhere(
  bots: TestBots,
  script: (chat: TestChat) => Promise<unknown>,
  options: CrashOptions = {},
): Promise<CrashReport> {
  const calm = await play(bots, script, options, null);
  if (calm.error !== null) throw calm.error;
  let runs = 1;
  for (const commit of calm.commits.keys()) {
    for (const side of ["before", "after"] as const) {
      const point = { commit, side };
      compare(calm, await play(bots, script, options, point), point);
      runs++;
    }
  }
  return { commits: calm.commits.length, runs };
}

async function play(
  bots: TestBots,
  script: (chat: TestChat) => Promise<unknown>,
  { prepare, ...options }: CrashOptions,
  point: Point | null,
): Promise<Outcome> {
  const commits: string[] = [];
  const kept = new Map<string, number>();
  let counting = false;
  const plan = (statements: Statement[]): Side | null => {
    if (!counting) return null;
    commits.push(subjectOf(statements));
    const side = point !== null && commits.length - 1 === point.commit ? point.side : null;
    if (side !== "before") for (const step of stepsKeptBy(statements)) kept.set(step, beginningsSoFar());
    return side;
  };
  const { chat, made } = await openTestChat(bots, options, plan);
  let error: unknown = null;
  try {
    await prepare?.(chat);
    counting = true;
    await script(chat);
    await chat.settle();
  } catch (thrown) {
    error = thrown;
  }
  const effects = effectsOf(made(), kept);
  const outcome = { transcripts: chat.transcripts(), effects, commits, error };
  await chat.close();
  return outcome;
}

const SUBJECTS: [RegExp, string][] = [
  [/INSERT INTO bot_steps/, "a step was kept"],
  [/INSERT INTO decisions/, "the decision was made"],
  [/INSERT INTO inbox/, "the message was stored"],
  [/UPDATE outbox/, "the reply was marked as sent"],
];

function subjectOf(statements: Statement[]): string {
  const text = statements.map(({ sql }) => sql).join("\n");
  return SUBJECTS.find(([sql]) => sql.test(text))?.[1] ?? "something was stored";
}

function compare(calm: Outcome, crashed: Outcome, { commit, side }: Point): void {
  const point = `${side} commit ${commit + 1} of ${calm.commits.length} (${calm.commits[commit]})`;
  const asked = differenceOf(calm.effects, crashed.effects);
  const difference =
    differenceOf(talk(calm.transcripts), talk(crashed.transcripts)) ??
    (asked === null ? null : `${asked}\n\n${ONCE}`);
  const { error } = crashed;
  if (error !== null)
    throw new CrashDifferenceError(point, [difference, String(error)].filter(Boolean).join("\n\n"), error);
  if (difference !== null) throw new CrashDifferenceError(point, difference);
}

const ONCE =
  "A handler that is killed runs again. What it asks of others is meant once in ctx.step or f.step, or under an Idempotency-Key.";

function talk(transcripts: Record<string, string[]>): string[] {
  const chats = Object.entries(transcripts).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return chats.flatMap(([chat, lines]) => (chats.length === 1 ? lines : [`--- ${chat}`, ...lines]));
}

const marked = (lines: readonly string[], mark: string): string[] => lines.map((line) => `${mark} ${line}`);

/** Lines that were expected (-) and that came instead (+); null when they are the same. */
export function differenceOf(expected: readonly string[], actual: readonly string[]): string | null {
  let same = 0;
  while (same < Math.max(expected.length, actual.length) && expected[same] === actual[same]) same++;
  if (same === expected.length && same === actual.length) return null;
  let tail = 0;
  const rest = Math.min(expected.length, actual.length) - same;
  while (tail < rest && expected.at(-1 - tail) === actual.at(-1 - tail)) tail++;
  return [
    ...marked(expected.slice(0, same), " "),
    ...marked(expected.slice(same, expected.length - tail), "-"),
    ...marked(actual.slice(same, actual.length - tail), "+"),
    ...marked(tail === 0 ? [] : expected.slice(-tail), " "),
  ].join("\n");
}
