import type { Message } from "../records.ts";

/** What a person wants to do to a message. */
export interface Change {
  kind: "react" | "edit" | "forward" | "delete";
  message: Message;
}

/** As WhatsApp's own apps offer them first. */
export const EMOJIS = ["👍", "❤️", "😂", "😮", "😢", "🙏"] as const;

const MINUTE_MS = 60_000;
const EDITABLE_MS = 15 * MINUTE_MS;
const REVOCABLE_MS = 48 * 60 * MINUTE_MS;
const WITH_TEXT = new Set<string>(["text", "image", "video", "document"]);
/** The permission that handing a message on takes, by its type; others cannot be handed on. */
const FORWARDED_BY: Record<string, string> = {
  text: "messages",
  location: "messages",
  contact: "messages",
  poll: "polls",
  image: "media",
  video: "media",
  audio: "media",
  voice: "media",
  document: "media",
  sticker: "media",
};
/** States of what no phone has got. */
export const NEVER_SENT: ReadonlySet<string | undefined> = new Set(["failed", "expired", "cancelled"]);

/**
 * What WhatsApp lets the number do to a message by now, as far as the person may.
 *
 * @param now Unix milliseconds
 */
export function changesOf(
  message: Message,
  now: number,
  may: (permission: string) => boolean,
): Change["kind"][] {
  const { direction, type, state, revoked, chat, at } = message;
  const permission = FORWARDED_BY[type];
  const forward: Change["kind"][] = permission !== undefined && may(permission) ? ["forward"] : [];
  if (revoked || NEVER_SENT.has(state)) return [];
  if (chat.endsWith("@newsletter") || !may("messages")) return forward;
  if (direction === "in") return ["react", ...forward];
  const age = now - Date.parse(at);
  const kinds: Change["kind"][] = state === "scheduled" ? [] : ["react", ...forward];
  if (WITH_TEXT.has(type) && age < EDITABLE_MS) kinds.push("edit");
  return age < REVOCABLE_MS ? [...kinds, "delete"] : kinds;
}
