import type { Line } from "../demo/playground/view.ts";

/** A message as a phone draws it: with what people have done to it. */
export interface Bubble {
  line: Line;
  /** Written on this phone. */
  mine: boolean;
  /** As it reads now. */
  text: string | undefined;
  edited: boolean;
  deleted: boolean;
  /** Emoji by who reacted. */
  reactions: Map<string, string>;
  /** Options by who chose them. */
  votes: Map<string, string[]>;
}

/** What is about another message, and no bubble of its own. */
const ABOUT = new Set(["reaction", "edit", "revoke", "vote"]);

/** The messages of a chat, oldest first, each with its reactions, edits and votes. */
export function fold(lines: readonly Line[], phone: string): Bubble[] {
  const bubbles = new Map<string, Bubble>();
  const ordered = lines.toSorted((one, other) => one.place - other.place);
  for (const line of ordered) {
    if (ABOUT.has(line.kind)) continue;
    bubbles.set(line.id, {
      line,
      mine: line.from === phone,
      text: line.text,
      edited: false,
      deleted: false,
      reactions: new Map(),
      votes: new Map(),
    });
  }
  for (const line of ordered) {
    const bubble = line.target === undefined ? undefined : bubbles.get(line.target);
    if (bubble !== undefined) applyTo(bubble, line);
  }
  return [...bubbles.values()];
}

function applyTo(bubble: Bubble, { kind, text = "", from, choices = [] }: Line): void {
  if (kind === "reaction") {
    if (text === "") bubble.reactions.delete(from);
    else bubble.reactions.set(from, text);
  }
  if (kind === "edit") {
    bubble.text = text;
    bubble.edited = true;
  }
  if (kind === "revoke") bubble.deleted = true;
  if (kind === "vote") bubble.votes.set(from, choices);
}
