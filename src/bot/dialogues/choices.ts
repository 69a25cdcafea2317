import { normalise } from "../normalise.ts";
import type { AnyContext } from "../types.ts";

/** One thing that can be chosen. */
export interface Choice {
  key: string;
  label: string;
}

/** How choices are shown: numbered lines, or a poll. */
export type Rendering = "text" | "poll";

/** WhatsApp's own limit for polls. */
const MOST_IN_A_POLL = 12;

/**
 * Shows what can be chosen.
 *
 * @param render `poll` falls back to text when a poll cannot show it: one choice, more than 12, two labels alike
 */
export function showChoices(
  ctx: AnyContext,
  question: string,
  choices: readonly Choice[],
  render: Rendering,
): void {
  const labels = choices.map(({ label }) => label);
  const fits =
    labels.length >= 2 && labels.length <= MOST_IN_A_POLL && new Set(labels).size === labels.length;
  if (render === "poll" && fits) return ctx.poll(question, labels);
  const lines = labels.map((label, index) => `${index + 1}. ${label}`);
  ctx.reply(`${question}\n\n${lines.join("\n")}`);
}

/**
 * What the message chooses: a number ("2", "2️⃣", "2."), a label, a key, or a vote in the poll of this question.
 *
 * @returns null when it chooses nothing, or more than one
 */
export function chosen(ctx: AnyContext, question: string, choices: readonly Choice[]): Choice | null {
  const { poll, type } = ctx.message;
  if (type === "poll_vote") {
    const [selected, ...more] = poll?.name === question ? (poll.selected ?? []) : [];
    return more.length > 0 ? null : (choices.find(({ label }) => label === selected) ?? null);
  }
  const text = normalise(ctx.text);
  if (text === null) return null;
  const number = /^\d{1,3}$/.test(text) ? choices[Number(text) - 1] : undefined;
  return (
    number ?? choices.find(({ key, label }) => normalise(label) === text || normalise(key) === text) ?? null
  );
}
