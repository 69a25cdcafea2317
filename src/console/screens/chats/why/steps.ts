import type { TraceStep } from "../records.ts";
import { authorOf, authorText, type Translate } from "../texts.ts";

/** Who did a step, in words: a bot, the webhook, a guard. */
function whoOf({ by = "" }: TraceStep, t: Translate): string {
  if (by.startsWith("guard:")) return by.slice("guard:".length);
  return by === "" ? "" : authorText(authorOf(by), t);
}

/** A step in a few words: what stands in the line of a message's way. */
export function stepText(step: TraceStep, t: Translate): string {
  return t(`chats.steps.${step.step}`, { who: whoOf(step, t), n: step.count ?? 0 }).trim();
}

/** `12 ms`, `1.4 s`, `3 min`. */
export function durationText(ms: number, locale: string): string {
  const as = (value: number, unit: string, digits: number): string =>
    new Intl.NumberFormat(locale, {
      style: "unit",
      unit,
      unitDisplay: "short",
      maximumFractionDigits: digits,
    }).format(value);
  if (ms < 1000) return as(ms, "millisecond", 0);
  return ms < 60_000 ? as(ms / 1000, "second", 1) : as(ms / 60_000, "minute", 1);
}

/** Of a step that went wrong, or that ended the way. */
const BAD = new Set(["failed", "timed_out", "dead", "no_answer", "disabled", "expired"]);

/** How a step looks. */
export function toneOfStep({ step, outcome = "" }: TraceStep): "good" | "bad" | "held" | "plain" {
  if (step === "failed" || step === "expired" || BAD.has(outcome) || /^[45]\d\d$/.test(outcome)) return "bad";
  if (step === "guard") return "held";
  const isGood = ["delivered", "read", "played", "acknowledged"].includes(step) || outcome === "answered";
  return isGood ? "good" : "plain";
}
