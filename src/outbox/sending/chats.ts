import type { QueuedRow } from "../rows.ts";

/** A stored message on its way out. */
export interface QueuedMessage extends QueuedRow {
  /** A receipt for it arrived: it was sent, whatever became of the ack. */
  confirmed: boolean;
  /** Refused once with 479, which is tried once more. */
  retried: boolean;
  /** It may have left already: what WhatsApp still has to tell is heard before it is sent again. */
  uncertain: boolean;
  /** Its chat is known to be one that the number may write in. */
  allowed: boolean;
  /** It may leave although the number warms up: that was asked. */
  isWarm: boolean;
  /** WhatsApp's media service takes no files: since when (Unix milliseconds) it waits for that, and what was last heard. */
  waitsForMedia: { since: number; reason: string } | null;
  /** It is getting another text, and does not leave before that is stored. */
  changing: Promise<unknown> | null;
}

/** The messages of one chat, in their order. */
export interface Chat {
  key: string;
  messages: QueuedMessage[];
  /** How many of them are replies: they make the whole chat go first, because order in a chat is never changed. */
  replies: number;
  /**
   * `idle`: nothing may be tried before the connection is open, has told what waited there, or a pause is over. `held`: it is
   * asked whether the number, which warms up, may write there today; or it may not. A reply says that somebody has written there.
   */
  state: "ready" | "sending" | "idle" | "held";
  failures: number;
  cancelPause: (() => void) | null;
}

/** What waits in the chats of one number, and which chat comes next. */
export interface WaitingChats {
  add(message: QueuedMessage): void;
  drop(chat: Chat, message: QueuedMessage): void;
  /** Drops all but what is being sent. @returns what was dropped */
  clear(): QueuedMessage[];
  /** It may be tried now; a chat that is ready already keeps its place, unless it moves up because of a reply. */
  makeReady(chat: Chat): void;
  /** It is tried now, or not before {@link makeReady}. */
  leave(chat: Chat, state: Exclude<Chat["state"], "ready">): void;
  /** Chats with replies, and those without, longest ready first. */
  readonly withReplies: ReadonlySet<Chat>;
  readonly proactive: ReadonlySet<Chat>;
  all(): Iterable<Chat>;
  of(message: QueuedMessage): Chat | undefined;
  /** Nothing of this chat waits or is being sent. */
  isEmpty(key: string): boolean;
  find(waId: string): QueuedMessage | undefined;
  /** @param id of the message's row */
  has(id: number): boolean;
  messages(): QueuedMessage[];
  readonly size: number;
}

/** No chats yet. Everything is in memory, with a look-up by chat, by WhatsApp's id and by the row's id. */
export function createWaitingChats(): WaitingChats {
  const chats = new Map<string, Chat>();
  const byWaId = new Map<string, QueuedMessage>();
  const ids = new Set<number>();
  const withReplies = new Set<Chat>();
  const proactive = new Set<Chat>();

  function endPause(chat: Chat): void {
    chat.cancelPause?.();
    chat.cancelPause = null;
  }

  function makeReady(chat: Chat): void {
    endPause(chat);
    chat.state = "ready";
    if (chat.replies === 0 && !withReplies.has(chat)) proactive.add(chat);
    else {
      proactive.delete(chat);
      withReplies.add(chat);
    }
  }

  function leave(chat: Chat, state: Exclude<Chat["state"], "ready">): void {
    withReplies.delete(chat);
    proactive.delete(chat);
    chat.state = state;
  }

  return {
    add(message) {
      if (byWaId.has(message.waId)) return;
      byWaId.set(message.waId, message);
      ids.add(message.id);
      let chat = chats.get(message.chat);
      if (chat === undefined) {
        chat = {
          key: message.chat,
          messages: [],
          replies: 0,
          state: "ready",
          failures: 0,
          cancelPause: null,
        };
        chats.set(message.chat, chat);
      }
      // Commits are told in their order, but rows found by a later look at the table may be older. What is being sent
      // stays first.
      let place = chat.messages.length;
      const fixed = chat.state === "sending" ? 1 : 0;
      while (place > fixed && chat.messages[place - 1]!.id > message.id) place--;
      chat.messages.splice(place, 0, message);
      if (message.isReply) chat.replies++;
      if (chat.state === "ready" || (chat.state === "held" && message.isReply)) makeReady(chat);
    },

    drop(chat, message) {
      const wasHead = chat.messages[0] === message;
      chat.messages.splice(chat.messages.indexOf(message), 1);
      byWaId.delete(message.waId);
      ids.delete(message.id);
      if (message.isReply) chat.replies--;
      if (chat.state === "sending") return;
      if (chat.messages.length === 0) {
        endPause(chat);
        leave(chat, "idle");
        chats.delete(chat.key);
      } else if (wasHead && (chat.state === "idle" || chat.state === "held")) {
        // What it waited for was the head's own affair.
        makeReady(chat);
      }
    },

    clear() {
      const dropped: QueuedMessage[] = [];
      const sending: Chat[] = [];
      for (const chat of chats.values()) {
        const kept = chat.state === "sending" ? chat.messages.slice(0, 1) : [];
        for (let place = kept.length; place < chat.messages.length; place++)
          dropped.push(chat.messages[place]!);
        chat.messages = kept;
        chat.replies = kept.filter(({ isReply }) => isReply).length;
        if (kept.length > 0) sending.push(chat);
        else {
          endPause(chat);
          chat.state = "idle";
        }
      }
      // All at once: to take tens of thousands out one by one would hold everybody up.
      for (const all of [chats, byWaId, ids, withReplies, proactive]) all.clear();
      for (const chat of sending) {
        chats.set(chat.key, chat);
        for (const message of chat.messages) {
          byWaId.set(message.waId, message);
          ids.add(message.id);
        }
      }
      return dropped;
    },

    makeReady,
    leave,
    withReplies,
    proactive,
    all: () => chats.values(),
    of: (message) => chats.get(message.chat),
    isEmpty: (key) => !chats.has(key),
    find: (waId) => byWaId.get(waId),
    has: (id) => ids.has(id),
    messages: () => [...byWaId.values()],
    get size() {
      return byWaId.size;
    },
  };
}
