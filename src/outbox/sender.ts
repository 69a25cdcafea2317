import type { Logger } from "pino";
import type { OutgoingMessage, SendOutcome, WhatsAppConnection } from "../whatsapp/port.ts";
import type { Pace } from "./pace.ts";
import type { QueuedRow } from "./rows.ts";
import { backoffMs, type Schedule } from "./schedule.ts";

/** A stored message on its way out. */
export interface Entry extends QueuedRow {
  /** A receipt for it arrived: it was sent, whatever became of the ack. */
  confirmed: boolean;
  /** Refused once with 479, which is tried once more. */
  retried: boolean;
}

/** What a finished attempt means for the message. */
export type Verdict = "done" | "again" | "later";

export interface SenderDeps {
  connection: () => WhatsAppConnection | null;
  pace: Pace;
  now: () => number;
  schedule: Schedule;
  log: Logger;
  /** The message as it goes over the wire; null when there is nothing to send any more. */
  compose: (entry: Entry) => Promise<OutgoingMessage | null>;
  /** Writes down what came of an attempt. Never throws. */
  judge: (entry: Entry, outcome: SendOutcome) => Promise<Verdict>;
}

/** Sends what one number has to send. */
export interface Sender {
  add(entries: Entry[]): void;
  /** Takes out what fits and is not being sent right now. */
  remove(fits: (entry: Entry) => boolean): Entry[];
  find(waId: string): Entry | undefined;
  entries(): Entry[];
  /** True while an attempt for this message is under way. */
  isSending(entry: Entry): boolean;
  /** The connection is open (again): whatever waited for it goes on. */
  wake(): void;
  readonly size: number;
  /** Starts nothing more; resolves when what is under way has its outcome. */
  stop(): Promise<void>;
}

/** Messages that may be without an ack at once; those that answer nobody leave room for replies. */
const MAX_PARALLEL_CHATS = 16;
const MAX_PARALLEL_UNASKED = 8;

interface Chat {
  key: string;
  entries: Entry[];
  /** Entries that are replies: they make the whole chat go first, because order in a chat is never changed. */
  replies: number;
  /** `idle`: nothing may be tried before the line is open, or the pause after a failure is over. */
  state: "ready" | "sending" | "idle";
  failures: number;
  cancelPause: (() => void) | null;
}

/**
 * In one chat the next message leaves when the outcome of the one before is known; chats do not wait for each other;
 * chats with replies come before the others, and only the others are paced.
 */
export function createSender(deps: SenderDeps): Sender {
  const chats = new Map<string, Chat>();
  const byWaId = new Map<string, Entry>();
  const readyReplies = new Set<Chat>();
  const readyUnasked = new Set<Chat>();
  let sending = 0;
  let sendingUnasked = 0;
  let cancelPaceTimer: (() => void) | null = null;
  let stopped = false;
  let whenQuiet: (() => void) | null = null;

  /** A chat that is ready already keeps its place, unless it moves up because of a reply. */
  function makeReady(chat: Chat): void {
    chat.cancelPause?.();
    chat.cancelPause = null;
    chat.state = "ready";
    if (chat.replies === 0 && !readyReplies.has(chat)) readyUnasked.add(chat);
    else {
      readyUnasked.delete(chat);
      readyReplies.add(chat);
    }
  }

  function addEntry(entry: Entry): void {
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
  }

  function drop(chat: Chat, entry: Entry): void {
    chat.entries.splice(chat.entries.indexOf(entry), 1);
    byWaId.delete(entry.waId);
    if (entry.isReply) chat.replies--;
    if (chat.entries.length > 0 || chat.state === "sending") return;
    chat.cancelPause?.();
    readyReplies.delete(chat);
    readyUnasked.delete(chat);
    chats.delete(chat.key);
  }

  function nextChat(): Chat | null {
    const [withReply] = readyReplies;
    if (withReply !== undefined) return withReply;
    const [unasked] = readyUnasked;
    if (unasked === undefined || sendingUnasked >= MAX_PARALLEL_UNASKED) return null;
    if (deps.pace.take(deps.now())) return unasked;
    cancelPaceTimer ??= deps.schedule(deps.pace.waitMs(deps.now()), () => {
      cancelPaceTimer = null;
      pump();
    });
    return null;
  }

  function pump(): void {
    const connection = stopped ? null : deps.connection();
    if (connection === null) return;
    while (sending < MAX_PARALLEL_CHATS) {
      const chat = nextChat();
      if (chat === null) return;
      readyReplies.delete(chat);
      readyUnasked.delete(chat);
      void attempt(chat, connection);
    }
  }

  async function attempt(chat: Chat, connection: WhatsAppConnection): Promise<void> {
    const entry = chat.entries[0]!;
    const unasked = chat.replies === 0;
    chat.state = "sending";
    sending++;
    if (unasked) sendingUnasked++;
    const verdict = await tryOnce(entry, connection);
    sending--;
    if (unasked) sendingUnasked--;
    settle(chat, entry, verdict, connection);
    if (sending === 0) whenQuiet?.();
    pump();
  }

  async function tryOnce(entry: Entry, connection: WhatsAppConnection): Promise<Verdict> {
    try {
      const message = await deps.compose(entry);
      if (message === null) return "done";
      return await deps.judge(entry, await connection.send(message));
    } catch (error) {
      // The database could not be read, or a connection broke its word. The message stays; so does its id.
      deps.log.error(
        { message: entry.waId, error: error instanceof Error ? error.name : "unknown" },
        "an attempt to send ended in an error; it is made again",
      );
      return "later";
    }
  }

  function settle(chat: Chat, entry: Entry, verdict: Verdict, connection: WhatsAppConnection): void {
    if (verdict === "done") {
      chat.failures = 0;
      chat.state = "ready";
      drop(chat, entry);
      if (chat.entries.length > 0) makeReady(chat);
    } else if (verdict === "again" || lineIsNew(connection)) {
      makeReady(chat);
    } else if (!stopped) {
      chat.failures++;
      chat.state = "idle";
      chat.cancelPause = deps.schedule(backoffMs(chat.failures), () => {
        makeReady(chat);
        pump();
      });
    }
  }

  /** A line that was opened while the old one's outcome was still out has already called `wake`. */
  function lineIsNew(old: WhatsAppConnection): boolean {
    const current = deps.connection();
    return current !== null && current !== old;
  }

  return {
    add(entries) {
      for (const entry of entries) addEntry(entry);
      pump();
    },
    remove(fits) {
      const removed: Entry[] = [];
      for (const chat of chats.values()) {
        const movable = chat.state === "sending" ? chat.entries.slice(1) : [...chat.entries];
        for (const entry of movable.filter(fits)) {
          drop(chat, entry);
          removed.push(entry);
        }
      }
      pump();
      return removed;
    },
    find: (waId) => byWaId.get(waId),
    entries: () => [...byWaId.values()],
    isSending(entry) {
      const chat = chats.get(entry.chat);
      return chat?.state === "sending" && chat.entries[0] === entry;
    },
    wake() {
      for (const chat of chats.values()) {
        chat.failures = 0;
        if (chat.state !== "sending") makeReady(chat);
      }
      pump();
    },
    get size() {
      return byWaId.size;
    },
    async stop() {
      stopped = true;
      cancelPaceTimer?.();
      for (const chat of chats.values()) chat.cancelPause?.();
      if (sending > 0) await new Promise<void>((resolve) => (whenQuiet = resolve));
    },
  };
}
