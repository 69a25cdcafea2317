import { regionOf } from "../../../kit/text/region.ts";
import type { TraceStep } from "../records.ts";
import { authorOf, authorText, type Translate } from "../texts.ts";

/** Guards that a gateway of another version asks go by their own names. */
function guardText(name: string, t: Translate): string {
  const text = t(`chats.guards.${name}`);
  return text === `chats.guards.${name}` ? name : text;
}

/** Who did a step, in words: a bot, the webhook, a guard. */
function whoOf({ by = "" }: TraceStep, t: Translate): string {
  if (by.startsWith("guard:")) return guardText(by.slice("guard:".length), t);
  return by === "" ? "" : authorText(authorOf(by), t);
}

/** A step in a few words: what stands in the line of a message's way. */
export function stepText(step: TraceStep, t: Translate): string {
  return t(`chats.steps.${step.step}`, { who: whoOf(step, t), n: step.count ?? 0 }).trim();
}

/** A part of the line: what, when, and of a reply which. */
export interface Part {
  text: string;
  at: string | null;
  id: string | null;
}

const isPassed = ({ step, outcome }: TraceStep): boolean => step === "guard" && outcome === "passed";
const isTold = ({ step, outcome }: TraceStep): boolean =>
  step !== "attempt" && !(step === "guard" && outcome === "not_asked");

/** The way in one line, whole: guards that let the message pass are one part of it, attempts have a page of their own. */
export function lineOf(steps: TraceStep[], t: Translate): Part[] {
  const told = steps.filter(isTold);
  const passed = told.filter(isPassed);
  return told
    .filter((step) => !isPassed(step) || step === passed[0])
    .map((step) =>
      step === passed[0]
        ? {
            text: t("chats.steps.passed", { who: passed.map((one) => whoOf(one, t)).join(", ") }),
            at: null,
            id: null,
          }
        : { text: stepText(step, t), at: step.at, id: (step.step === "reply" ? step.id : null) ?? null },
    );
}

/** `14:03:09`, in the reader's zone. @param digits of a second's fraction */
export const clockText = (at: string, locale: string, digits?: 3): string =>
  new Intl.DateTimeFormat(regionOf(locale), {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    ...(digits && { fractionalSecondDigits: digits }),
  }).format(new Date(at));

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
