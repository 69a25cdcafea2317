import { normalise } from "../messages/normalise.ts";
import type { AnyContext } from "../types/context.ts";

/** One option that can be chosen. */
export interface Choice {
  key: string;
  label: string;
}

/**
 * A question as the person saw it. It is stored until the answer comes. A number or a label in the answer means the option
 * that was shown with it, even when the code has changed since.
 */
export interface Shown {
  text: string;
  /** The options in the order they were shown, labels in the language they were shown in. Null: the question had no options. */
  options: readonly Choice[] | null;
}

/** What a dialogue's state keeps of its question; null in states of an earlier version. */
export function shownIn({ shown }: { shown?: unknown }): Shown | null {
  const { text, options } = (shown ?? {}) as Partial<Shown>;
  return typeof text === "string" ? { text, options: Array.isArray(options) ? options : null } : null;
}

/** Keys that were shown and that today's code does not offer any more. */
export const goneFrom = (shown: Shown | null, accepts: (key: string) => boolean): string[] =>
  (shown?.options ?? []).flatMap(({ key }) => (accepts(key) ? [] : [key]));

/** Labels may be keys of `locales/*.json`, like the texts of a dialogue. */
export const inLanguage = (ctx: AnyContext, choices: readonly Choice[]): Choice[] =>
  choices.map(({ key, label }) => ({ key, label: ctx.t(label) }));

/** @throws {TypeError} for two choices that an answer cannot tell apart */
export function refuseDoubles(name: string, choices: readonly Choice[]): void {
  const seen = new Map<string, string>();
  for (const { key, label } of choices) {
    const normal = normalise(label) ?? label;
    const other = seen.get(normal);
    if (other !== undefined)
      throw new TypeError(
        `${name}: ${JSON.stringify(other)} and ${JSON.stringify(key)} have the same label, ${JSON.stringify(label)}. An answer could mean either.`,
      );
    seen.set(normal, key);
  }
}

/** @throws {TypeError} for keys of an object that look like numbers, unless they are 1, 2, 3, … */
export function refuseNumbers(name: string, keys: readonly string[]): void {
  const numbers = keys.filter((key) => /^(?:0|[1-9]\d{0,9})$/.test(key));
  if (numbers.length === 0 || keys.every((key, index) => key === String(index + 1))) return;
  throw new TypeError(
    `${name}: JavaScript puts keys that are numbers (${numbers.slice(0, 3).join(", ")}) before all other keys, whatever the order in the code. Put a letter in front of them.`,
  );
}

/** How options are shown: `text` is numbered lines, `poll` a WhatsApp poll. */
export type Rendering = "text" | "poll";

/** WhatsApp's own limits for polls. */
const MOST_IN_A_POLL = 12;
const LONGEST_LABEL = 100;
const LONGEST_QUESTION = 255;

/**
 * Shows what can be chosen.
 *
 * @param render `poll` falls back to text when a poll cannot show it: one choice, more than 12, two labels alike, a text
 *               that is too long
 */
export function showChoices(ctx: AnyContext, { text: question, options }: Shown, render: Rendering): void {
  const labels = (options ?? []).map(({ label }) => label.trim());
  const lines = labels.map((label, index) => `${index + 1}. ${label}`);
  if (render === "poll" && fitsPoll(question, labels)) ctx.poll(question, labels);
  else ctx.reply(`${question}\n\n${lines.join("\n")}`);
}

function fitsPoll(question: string, labels: string[]): boolean {
  const count = labels.length >= 2 && labels.length <= MOST_IN_A_POLL;
  const length =
    question.length <= LONGEST_QUESTION && labels.every((label) => label.length <= LONGEST_LABEL);
  return count && length && new Set(labels).size === labels.length;
}

/**
 * What the message chooses: a number ("2", "2️⃣", "2."), a label, a key, or a vote in the poll of this question.
 *
 * @returns null when it chooses nothing, or more than one
 */
export function chosen(ctx: AnyContext, { text: question, options }: Shown): Choice | null {
  const choices = options ?? [];
  const { poll, type } = ctx.message;
  if (type === "poll_vote") {
    const [selected, ...more] = poll?.name === question.trim() ? (poll.selected ?? []) : [];
    return more.length > 0 ? null : (choices.find(({ label }) => label.trim() === selected) ?? null);
  }
  const text = normalise(ctx.text);
  if (text === null) return null;
  const number = /^\d{1,3}$/.test(text) ? choices[Number(text) - 1] : undefined;
  return (
    number ?? choices.find(({ key, label }) => normalise(label) === text || normalise(key) === text) ?? null
  );
}
