import type { Message } from "../records.ts";

/** What a person wants to do to a message. */
export interface Change {
  kind: "react" | "edit" | "delete";
  message: Message;
}

/** As WhatsApp's own apps offer them first. */
export const EMOJIS = ["👍", "❤️", "😂", "😮", "😢", "🙏"] as const;

const MINUTE_MS = 60_000;
const EDITABLE_MS = 15 * MINUTE_MS;
const REVOCABLE_MS = 48 * 60 * MINUTE_MS;
const WITH_TEXT = new Set<string>(["text", "image", "video", "document"]);
/** States of what no phone has got. */
export const NEVER_SENT: ReadonlySet<string | undefined> = new Set(["failed", "expired", "cancelled"]);

/**
 * What WhatsApp lets the number do to a message by now.
 *
 * @param now Unix milliseconds
 */
export function changesOf(message: Message, now: number): Change["kind"][] {
  const { direction, type, state, revoked, chat, at } = message;
  if (revoked || NEVER_SENT.has(state) || chat.endsWith("@newsletter")) return [];
  if (direction === "in") return ["react"];
  const age = now - Date.parse(at);
  const kinds: Change["kind"][] = state === "scheduled" ? [] : ["react"];
  if (WITH_TEXT.has(type) && age < EDITABLE_MS) kinds.push("edit");
  return age < REVOCABLE_MS ? [...kinds, "delete"] : kinds;
}
