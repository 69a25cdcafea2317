import type { ShownSettings } from "../../conversations/chat-settings.ts";
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
  ...chatSettingsView(facts),
});

/** The last moment that ISO 8601 can name with four digits. */
export const FOR_EVER_ISO = "9999-12-31T23:59:59.999Z";

/** How the number's phone shows a chat. */
export const chatSettingsView = ({
  archived,
  pinned,
  mutedUntil,
  markedUnread,
  disappearing,
}: ShownSettings) => ({
  archived,
  pinned,
  muted_until: mutedUntil !== null && mutedUntil < 0 ? FOR_EVER_ISO : isoOrNull(mutedUntil),
  marked_unread: markedUnread,
  disappearing,
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
