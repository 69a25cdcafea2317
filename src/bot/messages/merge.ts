import type { StoredMessage } from "../../model/answerer.ts";

/** Texts in a row as one message: all of them line by line, or only the last. The row that answers stays the first. */
export function merge(first: StoredMessage, later: StoredMessage[], kind: "merge" | "latest"): StoredMessage {
  const last = later.at(-1)!.message;
  const texts = [first, ...later].map(({ message }) => message.text);
  const together = [first, ...later].map(({ inboxId }) => inboxId);
  return { ...first, together, message: { ...last, text: kind === "latest" ? last.text : texts.join("\n") } };
}
