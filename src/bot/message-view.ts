import type { Incoming } from "../model/messages.ts";
import { viewPoll } from "../model/polls.ts";
import type { Message } from "./types.ts";

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

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
