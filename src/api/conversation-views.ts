import type { ListedChat } from "../conversations/chats.ts";
import type { ListedMessage } from "../conversations/records.ts";
import { iso } from "./views.ts";

/** A message in the list: what it has not is left out. */
export const listedMessageView = ({ at, expiresAt, answeredBy, ...message }: ListedMessage) => ({
  ...message,
  at: iso(at),
  ...(expiresAt !== undefined && { expires_at: iso(expiresAt) }),
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
  taken_over_until: facts.takenOverUntil === null ? null : iso(facts.takenOverUntil),
  bot: facts.bot,
});
