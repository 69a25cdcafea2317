import type { Incoming } from "../../model/messages.ts";

/** Whose state it is: a chat, and in groups one writer of it. */
export interface Scope {
  /** Canonical: the number's form when the pair is known. */
  key: string;
  /** The same under the LID, when the number became known later; null when there is no other form. */
  alias: string | null;
}

/** The scope of a message: its chat, and in a group also who wrote. */
export function scopeOf(message: Pick<Incoming, "chatKey" | "chatKind" | "sender" | "lid">): Scope {
  const { chatKey, chatKind, sender, lid } = message;
  const alias = lid !== null && lid !== sender ? lid : null;
  if (chatKind === "dm") return { key: chatKey, alias };
  return { key: `${chatKey}|${sender}`, alias: alias && `${chatKey}|${alias}` };
}

/** Condition for rows of a scope under either of its forms; its arguments are the number and {@link keysOf}. */
export const IN_SCOPE = "device_id = ? AND scope IN (?, ?)";

/** Both forms of a scope as arguments of {@link IN_SCOPE}; the one form twice when there is no other. */
export const keysOf = ({ key, alias }: Scope): [string, string] => [key, alias ?? key];
