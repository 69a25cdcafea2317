import { chosen } from "../dialogues/choices.ts";
import { understoodIn } from "../dialogues/words.ts";
import { normalise } from "../messages/normalise.ts";
import type { AnyContext } from "../types/context.ts";
import type { FlowState } from "./state.ts";

/** What a person wants besides answering the question. */
export type Repair =
  /** The question again. */
  | { kind: "repeat" }
  /** The answer under this key is asked for again; null: there is none to go back to. */
  | { kind: "reopen"; key: string | null };

/**
 * Reads "back", "repeat" and "change my name"; to a review that is open, also "name" alone. What the open question offers as a choice is an answer and none of these.
 *
 * @returns null when the message is meant as an answer
 */
export function readRepair(ctx: AnyContext, { open, entries }: FlowState): Repair | null {
  if (open === null || ctx.message.type !== "text") return null;
  if (open.shown.options !== null && chosen(ctx, open.shown) !== null) return null;
  const text = normalise(ctx.text);
  if (text === null) return null;
  const says = (kind: "back" | "repeat"): boolean => understoodIn(ctx.locale, kind).includes(text);
  if (says("repeat")) return { kind: "repeat" };
  const answers = entries.filter(({ kind }) => kind === "answer");
  if (says("back")) return { kind: "reopen", key: answers.at(-1)?.key ?? null };
  /** Under today's name of the key, or that of the review that is open. */
  const called = (what: string): string | null => {
    const shown = open.corrects?.find(({ label }) => normalise(label) === what)?.key;
    const prefix = open.key.slice(0, open.key.lastIndexOf("/") + 1);
    const isMeant = (key: string): boolean =>
      shown === undefined
        ? normalise(nameOf(key)) === what
        : key.startsWith(prefix) && nameOf(key) === shown && !key.slice(prefix.length).includes("/");
    return answers.findLast(({ key }) => isMeant(key))?.key ?? null;
  };
  for (const verb of understoodIn(ctx.locale, "change")) {
    if (!text.startsWith(`${verb} `)) continue;
    const key = called(text.slice(verb.length + 1));
    if (key !== null) return { kind: "reopen", key };
  }
  const key = open.corrects === undefined ? null : called(text);
  return key === null ? null : { kind: "reopen", key };
}

/** `checkout/name#2` is called "name". */
export const nameOf = (key: string): string => key.slice(key.lastIndexOf("/") + 1).replace(/#\d+$/, "");
