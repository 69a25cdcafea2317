import type { QueuedRow } from "./rows.ts";

/** A stored message on its way out. */
export interface Entry extends QueuedRow {
  /** A receipt for it arrived: it was sent, whatever became of the ack. */
  confirmed: boolean;
  /** Refused once with 479, which is tried once more. */
  retried: boolean;
  /** It may have left already: what WhatsApp still has to tell is heard before it is sent again. */
  uncertain: boolean;
  /** Its chat is known to be one that the number may write in. */
  allowed: boolean;
}

/** The messages of one chat, in their order. */
export interface Chat {
  key: string;
  entries: Entry[];
  /** Entries that are replies: they make the whole chat go first, because order in a chat is never changed. */
  replies: number;
  /** `idle`: nothing may be tried before the line is open, has told what waited there, or a pause is over. */
  state: "ready" | "sending" | "idle";
  failures: number;
  cancelPause: (() => void) | null;
}

/** What waits in the chats of one number, and which chat comes next. */
export interface WaitingChats {
  add(entry: Entry): void;
  drop(chat: Chat, entry: Entry): void;
  /** It may be tried now; a chat that is ready already keeps its place, unless it moves up because of a reply. */
  makeReady(chat: Chat): void;
  /** It is tried now, or not before {@link makeReady}. */
  leave(chat: Chat, state: "sending" | "idle"): void;
  /** Chats with replies, and those without, longest ready first. */
  readonly withReplies: ReadonlySet<Chat>;
  readonly unasked: ReadonlySet<Chat>;
  all(): Iterable<Chat>;
  of(entry: Entry): Chat | undefined;
  find(waId: string): Entry | undefined;
  entries(): Entry[];
  readonly size: number;
}

export function createWaitingChats(): WaitingChats {
  const chats = new Map<string, Chat>();
  const byWaId = new Map<string, Entry>();
  const withReplies = new Set<Chat>();
  const unasked = new Set<Chat>();

  function endPause(chat: Chat): void {
    chat.cancelPause?.();
    chat.cancelPause = null;
  }

  function makeReady(chat: Chat): void {
    endPause(chat);
    chat.state = "ready";
    if (chat.replies === 0 && !withReplies.has(chat)) unasked.add(chat);
    else {
      unasked.delete(chat);
      withReplies.add(chat);
    }
  }

  function leave(chat: Chat, state: "sending" | "idle"): void {
    withReplies.delete(chat);
    unasked.delete(chat);
    chat.state = state;
  }

  return {
    add(entry) {
      if (byWaId.has(entry.waId)) return;
      byWaId.set(entry.waId, entry);
      let chat = chats.get(entry.chat);
      if (chat === undefined) {
        chat = { key: entry.chat, entries: [], replies: 0, state: "ready", failures: 0, cancelPause: null };
        chats.set(entry.chat, chat);
      }
      // Commits are told in their order, but rows found by a later look at the table may be older. What is being sent
      // stays first.
      let place = chat.entries.length;
      const fixed = chat.state === "sending" ? 1 : 0;
      while (place > fixed && chat.entries[place - 1]!.id > entry.id) place--;
      chat.entries.splice(place, 0, entry);
      if (entry.isReply) chat.replies++;
      if (chat.state === "ready") makeReady(chat);
    },

    drop(chat, entry) {
      const wasHead = chat.entries[0] === entry;
      chat.entries.splice(chat.entries.indexOf(entry), 1);
      byWaId.delete(entry.waId);
      if (entry.isReply) chat.replies--;
      if (chat.state === "sending") return;
      if (chat.entries.length === 0) {
        endPause(chat);
        leave(chat, "idle");
        chats.delete(chat.key);
      } else if (wasHead && chat.state === "idle") {
        // What it waited for was the head's own affair.
        makeReady(chat);
      }
    },

    makeReady,
    leave,
    withReplies,
    unasked,
    all: () => chats.values(),
    of: (entry) => chats.get(entry.chat),
    find: (waId) => byWaId.get(waId),
    entries: () => [...byWaId.values()],
    get size() {
      return byWaId.size;
    },
  };
}
