import type { Logger } from "pino";
import type { OutgoingMessage, SendOutcome, WhatsAppConnection } from "../whatsapp/port.ts";
import { createWaitingChats, type Chat, type Entry } from "./chats.ts";
import type { Pace } from "./pace.ts";
import { createPlaces } from "./places.ts";
import { backoffMs, type Schedule } from "./schedule.ts";

/** What a finished attempt means for the message. */
export type Verdict = "done" | "again" | "later";

export interface SenderDeps {
  connection: () => WhatsAppConnection | null;
  pace: Pace;
  /** The number's pause after WhatsApp's 429; afterwards one message goes first. */
  brake: { waitMs(): number; isProbing(): boolean };
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

/**
 * In one chat the next message leaves when the outcome of the one before is known; chats do not wait for each other;
 * chats with replies come before the others, and only the others are paced.
 */
export function createSender(deps: SenderDeps): Sender {
  const chats = createWaitingChats();
  const places = createPlaces(deps.schedule);
  const timers = new Map<"pace" | "brake", () => void>();
  /** The line that is listened to, and whether it has told what waited for the number. */
  let line: { connection: WhatsAppConnection; heard: boolean } | null = null;
  let pumpsSoon = false;
  let stopped = false;
  let whenQuiet: (() => void) | null = null;

  /** Replies first, but they leave a place to what answers nobody. */
  function nextChat(): Chat | null {
    const reply = firstTriable(chats.withReplies);
    const unasked = firstTriable(chats.unasked);
    if (reply !== null && places.mayReply(unasked !== null)) return reply;
    if (unasked !== null && places.mayGoUnasked() && hasToken()) return unasked;
    return reply;
  }

  function firstTriable(ready: ReadonlySet<Chat>): Chat | null {
    for (const chat of ready) {
      if (line?.heard || !chat.entries[0]!.uncertain) return chat;
      chats.leave(chat, "idle");
    }
    return null;
  }

  function hasToken(): boolean {
    if (deps.pace.take(deps.now())) return true;
    pumpIn("pace", deps.pace.waitMs(deps.now()));
    return false;
  }

  function pumpIn(why: "pace" | "brake", ms: number): void {
    if (timers.has(why)) return;
    const cancel = deps.schedule(ms, () => {
      timers.delete(why);
      pump();
    });
    timers.set(why, cancel);
  }

  function listenTo(connection: WhatsAppConnection): void {
    if (line?.connection === connection) return;
    const current = { connection, heard: false };
    line = current;
    void connection.caughtUp().then(() => {
      current.heard = true;
      if (line !== current) return;
      for (const chat of chats.all())
        if (chat.state === "idle" && chat.cancelPause === null) chats.makeReady(chat);
      pump();
    });
  }

  function mayStart(): boolean {
    const wait = deps.brake.waitMs();
    if (wait > 0) pumpIn("brake", wait);
    if (wait > 0 || (deps.brake.isProbing() && places.underWay > 0)) return false;
    return places.hasRoom();
  }

  /** Who stored something in one commit hears of it in any order: all of it comes in before the first leaves. */
  function pumpSoon(): void {
    if (pumpsSoon) return;
    pumpsSoon = true;
    setImmediate(() => {
      pumpsSoon = false;
      pump();
    });
  }

  function pump(): void {
    const connection = stopped ? null : deps.connection();
    if (connection === null) return;
    listenTo(connection);
    while (mayStart()) {
      const chat = nextChat();
      if (chat === null) return;
      void attempt(chat, connection);
    }
  }

  async function attempt(chat: Chat, connection: WhatsAppConnection): Promise<void> {
    const entry = chat.entries[0]!;
    chats.leave(chat, "sending");
    const giveBack = places.take(chat.replies === 0, pump);
    entry.uncertain = true;
    const verdict = await tryOnce(entry, connection);
    giveBack();
    settle(chat, entry, verdict, connection);
    if (places.underWay === 0) whenQuiet?.();
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
      chat.state = "idle";
      chats.drop(chat, entry);
    } else if (verdict === "again") {
      entry.uncertain = false;
      chats.makeReady(chat);
    } else if (lineIsNew(connection)) {
      chats.makeReady(chat);
    } else if (!stopped) {
      chat.failures++;
      chat.state = "idle";
      chat.cancelPause = deps.schedule(backoffMs(chat.failures), () => {
        chats.makeReady(chat);
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
      for (const entry of entries) chats.add(entry);
      pumpSoon();
    },
    remove(fits) {
      const removed: Entry[] = [];
      for (const chat of chats.all()) {
        const movable = chat.state === "sending" ? chat.entries.slice(1) : [...chat.entries];
        for (const entry of movable.filter(fits)) {
          chats.drop(chat, entry);
          removed.push(entry);
        }
      }
      pump();
      return removed;
    },
    find: chats.find,
    entries: chats.entries,
    isSending(entry) {
      const chat = chats.of(entry);
      return chat?.state === "sending" && chat.entries[0] === entry;
    },
    wake() {
      for (const chat of chats.all()) {
        chat.failures = 0;
        if (chat.state !== "sending") chats.makeReady(chat);
      }
      pump();
    },
    get size() {
      return chats.size;
    },
    async stop() {
      stopped = true;
      for (const cancel of timers.values()) cancel();
      for (const chat of chats.all()) chat.cancelPause?.();
      if (places.underWay > 0) await new Promise<void>((resolve) => (whenQuiet = resolve));
    },
  };
}
