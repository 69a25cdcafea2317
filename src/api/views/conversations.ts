import type { ListedChat } from "../../conversations/chats.ts";
import type { ListedMessage } from "../../conversations/records.ts";
import type { Trace } from "../../conversations/trace.ts";
import type { OpenDialogue } from "../../conversations/dialogues.ts";
import { iso, isoOrNull } from "./views.ts";

/** A message in the list: what it has not is left out. */
export const listedMessageView = ({
  at,
  expiresAt,
  sendAt,
  answeredBy,
  targetId,
  ...message
}: ListedMessage) => ({
  ...message,
  at: iso(at),
  ...(sendAt !== undefined && { send_at: iso(sendAt) }),
  ...(expiresAt !== undefined && { expires_at: iso(expiresAt) }),
  ...(targetId !== undefined && { target_id: targetId }),
  ...(answeredBy !== undefined && { answered_by: answeredBy }),
});

/** A chat with its last message, of which the text is enough. */
export const listedChatView = ({ sender, chat, name, last, ...facts }: ListedChat) => ({
  sender,
  chat,
  name,
  is_group: facts.isGroup,
  last: {
    id: last.id,
    at: iso(last.at),
    direction: last.direction,
    type: last.type,
    message: last.message,
  },
  unanswered: facts.unanswered,
  unread: facts.unread,
  taken_over_until: facts.takenOverUntil === null ? null : iso(facts.takenOverUntil),
  bot: facts.bot,
});

/** The way of a message, step by step. */
export const traceView = ({ steps, ...trace }: Trace) => ({
  ...trace,
  steps: steps.map(({ step, at, ms, ...more }) => ({
    step,
    at: at === null ? null : iso(at),
    ms: ms ?? null,
    ...more,
  })),
});

/** A dialogue that is under way. */
export const dialogueView = ({ updatedAt, expiresAt, ...dialogue }: OpenDialogue) => ({
  ...dialogue,
  updated_at: iso(updatedAt),
  expires_at: isoOrNull(expiresAt),
});
