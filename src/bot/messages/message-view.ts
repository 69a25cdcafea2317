import type { Incoming } from "../../model/messages.ts";
import { viewPoll } from "../../model/polls.ts";
import type { Message } from "../types.ts";

/** Makes the frozen copy when it is first asked for: a bot that tries to change it changes nothing for the next. */
export function lazyView(message: Incoming): () => Message {
  let view: Message | null = null;
  return () => {
    const { id, type, text, timestamp, quoted, mentions, location, contacts, reaction, targetId } = message;
    return (view ??= freeze(
      structuredClone({
        id,
        type,
        text,
        timestamp,
        quoted,
        mentions,
        location,
        contacts,
        reaction,
        targetId,
        media: message.media ?? null,
        poll: viewPoll(message.poll),
      }),
    ));
  };
}

/**
 * The message as routes look at it: the first `maxText` characters of its text and of what it quotes. Whatever an expression
 * of a bot costs, a stranger decides on no more than that many characters of it.
 */
export function lazyHead(message: Incoming, whole: () => Message): (maxText: number) => Message {
  const heads = new Map<number, Message>();
  return (maxText) => {
    const { text, quoted } = message;
    if (text.length <= maxText && (quoted?.text ?? "").length <= maxText) return whole();
    const known = heads.get(maxText);
    if (known !== undefined) return known;
    const cut = quoted && { ...quoted, text: headOf(quoted.text, maxText) };
    const head = lazyView({ ...message, text: headOf(text, maxText), quoted: cut })();
    heads.set(maxText, head);
    return head;
  };
}

/** The first characters of a text; no pair that makes one sign is cut in two. */
export function headOf(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
