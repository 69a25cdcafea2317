import type { Shown } from "../dialogues/choices.ts";
import type { DialogueState } from "../types/dialogue.ts";
import type { Correctable } from "./questions/review.ts";
import type { FlowEntry } from "./types.ts";

/** The question that waits for its answer, as it was shown. */
export interface OpenQuestion {
  key: string;
  shown: Shown;
  tries: number;
  /** Of `choose`: what stood beside each option. */
  items?: readonly unknown[];
  /** In which it was shown. */
  locale?: string;
  /** Digest of what it depended on. */
  of?: string;
  /** Of a review: answers by the names under which they were shown. */
  corrects?: readonly Correctable[];
  /** It was answered before, and the person wants it otherwise. */
  isReopened?: true;
}

/** What a flow that asks nothing waits for. */
export interface Sleep {
  /** Of the step that is tried again, of the question that cannot be asked yet, or of `until`. */
  key: string;
  /** Unix milliseconds; null: only the signal wakes it. */
  at: number | null;
  signal: string | null;
}

/** An answer in writing to a question that the code reaches later. */
export interface HeldAnswer extends Omit<OpenQuestion, "tries" | "isReopened"> {
  text: string;
}

/** What one flow sends to another. */
export interface Signal {
  signal: string;
  value: unknown;
}

/** What is kept of a flow between two messages. */
export interface FlowState extends DialogueState {
  input: unknown;
  entries: FlowEntry[];
  /** The same for as long as the flow lives: what keys of its steps are made from. */
  seed: string;
  open: OpenQuestion | null;
  sleep: Sleep | null;
  held: HeldAnswer | null;
  /** Failed tries of the step under way. */
  failedTries: number;
  /** What other flows have sent and nobody has waited for yet, oldest first. */
  signals: Signal[];
  /** Id under which another flow began it beside itself; null: it has the chat. */
  beside: string | null;
}

/** A journal may be so large, as JSON: one that grows further belongs to a flow that must begin anew. */
const LONGEST_JOURNAL = 1_048_576;
/** Characters of JSON for one that is written. */
const MOST_ESCAPED = 6;
/** Characters of an entry around its key, its value and the id of its message: names, quotes, and what was shown in digests. */
const AROUND_ENTRY = 256;

/** Whether it is larger than a flow may be. Written out only when a look at its parts does not tell. */
export function isTooLong(state: FlowState): boolean {
  const { entries, ...rest } = state;
  let most = JSON.stringify(rest).length;
  for (const { key, value, message = "", shown } of entries)
    most +=
      AROUND_ENTRY +
      MOST_ESCAPED * (key.length + message.length) +
      mostOf(value) +
      mostOf(shown?.label ?? "");
  return most > LONGEST_JOURNAL && JSON.stringify(state).length > LONGEST_JOURNAL;
}

/** No fewer characters than the value has as JSON. */
const mostOf = (value: unknown): number =>
  typeof value === "string" ? MOST_ESCAPED * value.length : (JSON.stringify(value)?.length ?? 0);

/** @returns null for what no flow has written */
export function readState(stored: unknown): FlowState | null {
  const state = stored as Partial<FlowState> | null;
  if (!Array.isArray(state?.entries) || typeof state.seed !== "string") return null;
  const {
    entries,
    seed,
    input = null,
    open = null,
    sleep = null,
    held = null,
    failedTries = 0,
    signals = [],
    beside = null,
  } = state;
  return { input, entries, seed, open, sleep, held, failedTries, signals, beside };
}

/** A flow that has just begun. */
export const newState = (input: unknown, seed: string, beside: string | null): FlowState => ({
  input: input === undefined ? null : (JSON.parse(JSON.stringify(input)) as unknown),
  entries: [],
  seed,
  open: null,
  sleep: null,
  held: null,
  failedTries: 0,
  signals: [],
  beside,
});
