import { wordsIn } from "../../dialogues/words.ts";
import type { AnyContext } from "../../types/context.ts";
import { FlowMistake } from "../errors.ts";
import type { ReviewOptions } from "../types.ts";

/** An answer by the name under which a person may correct it. */
export interface Correctable {
  /** Of its question, without what `f.at` and `f.run` put before it. */
  key: string;
  label: string;
}

/** What `f.review` shows. */
export interface Review {
  text: string;
  corrects: readonly Correctable[];
}

/** @throws {FlowMistake} for an answer that is no text */
export function reviewOf(
  ctx: AnyContext,
  question: string,
  answers: Readonly<Record<string, unknown>>,
  { labels = {} }: ReviewOptions = {},
): Review {
  const words = wordsIn(ctx.locale);
  const corrects = Object.keys(answers).map((key) => ({ key, label: ctx.t(labels[key] ?? spoken(key)) }));
  const [first] = corrects;
  if (first === undefined)
    throw new FlowMistake(
      'f.review() shows no answer. Name some: f.review("right", "Is this right?", { name }).',
    );
  const lines = corrects.map(({ key, label }) => `${label}: ${valueOf(key, answers[key], words)}`);
  const how = words.correct.replace("{name}", () => first.label.toLowerCase());
  return { text: `${lines.join("\n")}\n\n${ctx.t(question)}\n${how}`, corrects };
}

/** `firstName` is "First name". */
function spoken(key: string): string {
  const text = key
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/[_.:-]/g, " ")
    .toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function valueOf(key: string, value: unknown, { yes, no }: ReturnType<typeof wordsIn>): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return (value ? yes : no)[0]!;
  if (typeof value === "string" || typeof value === "number") return String(value);
  throw new FlowMistake(
    `f.review(): ${JSON.stringify(key)} is no text. Give what is to be shown of it: { ${key}: show(${key}) }.`,
  );
}
