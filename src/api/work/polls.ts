import type { PollDraft } from "../../model/content/drafts.ts";

/** The draft of a checked request for a poll. */
export function pollDraft(input: { name: string; option: string[]; countable: "0" | "1" }): PollDraft {
  const { name, option: options, countable } = input;
  return { kind: "poll", name, options, selectable: countable === "1" ? 1 : 0 };
}
