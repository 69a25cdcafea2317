import { normalise } from "../messages/normalise.ts";
import type { CommandMatch } from "../types.ts";

/** Longer texts are looked through by expressions only. */
const LONGEST_SEARCHED = 4096;
const LONGEST_COMMAND = 4096;

/** One message's text in the forms in which routes compare it, each made when it is first asked for. */
export interface Words {
  /** The whole text as keywords are compared; null when it can be no keyword. */
  readonly whole: string | null;
  /** Whether it contains the normalised word, or words, whole. */
  contains(word: string): boolean;
  /** The rest behind the normalised words, as it was written; null when it does not begin with them. */
  after(words: string): string | null;
  /** `/name …`, and the name as routes are found by it. */
  readonly command: (CommandMatch & { key: string }) | null;
}

/** The text of a message or a caption, as it came. */
export function readWords(text: string): Words {
  let whole: string | null | undefined;
  let padded: string | undefined;
  let parts: { word: string; end: number }[] | undefined;
  let command: Words["command"] | undefined;

  return {
    get whole() {
      return (whole ??= normalise(text));
    },
    contains(word) {
      padded ??= padWords(text);
      return padded.includes(` ${word.replace(/[^\p{L}\p{N}\p{M}]+/gu, " ").trim()} `);
    },
    after(words) {
      parts ??= splitWords(text);
      const count = words.split(" ").length;
      const last = parts[count - 1];
      if (last === undefined) return null;
      const head = normalise(text.slice(0, last.end));
      return head === words
        ? text
            .slice(last.end)
            .replace(/^[\s\p{P}]+/u, "")
            .trimEnd()
        : null;
    },
    get command() {
      return command === undefined ? (command = readCommand(text)) : command;
    },
  };
}

function padWords(text: string): string {
  const normal = text.length > LONGEST_SEARCHED ? null : normalise(text);
  return normal === null ? " " : ` ${normal.replace(/[^\p{L}\p{N}\p{M}]+/gu, " ").trim()} `;
}

function splitWords(text: string): { word: string; end: number }[] {
  const found = text.slice(0, LONGEST_SEARCHED).matchAll(/\S+/gu);
  return [...found].map(({ 0: word, index }) => ({ word, end: index + word.length }));
}

function readCommand(text: string): Words["command"] {
  if (!text.startsWith("/") || text.length > LONGEST_COMMAND) return null;
  const found = /^\/([\p{L}\p{N}_-]{1,64})(?:\s([\s\S]*))?$/u.exec(text.trim());
  const key = found && normalise(found[1]!);
  if (!found || key === null) return null;
  const rest = (found[2] ?? "").trim();
  return { command: found[1]!, rest, args: rest === "" ? [] : rest.split(/\s+/), key: key! };
}
