import type { Asked, StoredMessage, TrailEntry } from "../../model/answerer.ts";
import type { Time } from "../../model/time.ts";
import { merge } from "../messages/merge.ts";
import type { Gate, Restart } from "../handlers/restart.ts";
import type { TurnResult } from "../handlers/turn-results.ts";
import type { TurnInput } from "../handlers/turns.ts";
import type { ActiveBot } from "../routes/table.ts";

/** One question to a bot, and the message that it is about. */
export interface Attempt extends Omit<TurnInput, "restart"> {
  active: ActiveBot;
  message: StoredMessage;
}

/** What waits behind a message, and what becomes of the question with it. */
export interface NewerTexts {
  /** The message by itself, whatever was put together with it already. */
  stored: StoredMessage;
  waitForMore: Asked["waitForMore"];
  /** A text that somebody else takes: it stays by itself, and so does what is behind it. */
  isOthers(text: StoredMessage): boolean;
  /** The same question about all texts as one; null: the bot would not be asked about them. */
  renew(message: StoredMessage): Attempt | null;
  time: Pick<Time, "after" | "monotonic">;
}

/** An answer, and what it is about besides the first message. */
interface AnsweredTogether {
  result: Exclude<TurnResult, { kind: "restarted" }>;
  merged: StoredMessage[];
}

const LOOK_MS = 100;
/** However somebody goes on writing, an answer comes. */
const MOST_RESTARTS = 10;
const LONGEST_MS = 30_000;

/**
 * Asks a bot. While its handler says that a newer text counts, and nothing was done outside yet, it is asked anew about all texts
 * together when one comes. All that it was asked about is decided in one commit, or nothing of it.
 *
 * @param merged texts behind the message that the first question is about already
 */
export async function askWithNewer(
  first: Attempt,
  merged: StoredMessage[],
  newer: NewerTexts,
  ask: (attempt: Attempt, restart: Restart) => Promise<TurnResult>,
): Promise<AnsweredTogether> {
  const began = newer.time.monotonic();
  const restarts: TrailEntry[] = [];
  let next: Found = { attempt: first, texts: merged };
  for (;;) {
    const { attempt, texts } = next;
    const isLast = restarts.length === MOST_RESTARTS || newer.time.monotonic() - began > LONGEST_MS;
    const watch = watchFor(newer, texts, isLast);
    const result = await ask(attempt, watch.restart).finally(watch.stop);
    const found = watch.found();
    if (result.kind === "restarted" && found !== null) {
      restarts.push(...result.trail);
      next = found;
    } else if (result.kind !== "restarted") {
      result.trail.unshift(...restarts);
      return { result, merged: texts };
    }
  }
}

/** The question that is asked instead. */
interface Found {
  attempt: Attempt;
  texts: StoredMessage[];
}

/** Looks again and again, from when the handler says that a newer text counts until it has ended. */
function watchFor(
  newer: NewerTexts,
  known: StoredMessage[],
  isLast: boolean,
): { restart: Restart; stop(): void; found(): Found | null } {
  const { stored, waitForMore, isOthers, renew, time } = newer;
  const canBe = !isLast && stored.message.type === "text" && !stored.message.timer;
  let cut: (() => void) | null = null;
  let found: Found | null = null;
  let state: "waiting" | "looking" | "over" = canBe ? "waiting" : "over";
  let cancel: (() => void) | null = null;
  let hasEnded = false;

  async function look(gate: Gate): Promise<void> {
    const behind = await waitForMore(0, isOthers);
    const end = behind.findIndex(isOthers);
    const texts = end === -1 ? behind : behind.slice(0, end);
    if (texts.length <= known.length) return;
    await gate.ready();
    // From here on nothing can come between: the handler is given up while nothing of it is done.
    if (state === "over" || cut === null || !gate.isOpen()) return;
    const attempt = renew(merge(stored, texts, "merge"));
    if (attempt === null) return;
    state = "over";
    found = { attempt, texts };
    gate.shut();
    cut();
  }

  function goOn(gate: Gate): void {
    // A database that is away is no reason to begin anew: the handler hears of it itself.
    const looked = look(gate).catch(() => undefined);
    void looked.then(() => {
      if (state === "looking") cancel = time.after(LOOK_MS, () => goOn(gate));
    });
  }

  async function resume(together: readonly number[]): Promise<void> {
    const behind = await waitForMore(0);
    const texts = behind.filter(({ inboxId }) => together.includes(inboxId));
    const attempt = texts.length === together.length - 1 ? renew(merge(stored, texts, "merge")) : null;
    if (attempt === null || cut === null || found !== null || hasEnded) return;
    state = "over";
    found = { attempt, texts };
    cut();
    await new Promise<never>(() => undefined);
  }

  return {
    restart: {
      resume,
      begin(gate) {
        if (state !== "waiting") return;
        state = "looking";
        goOn(gate);
      },
      listen: (whenFound) => void (cut = whenFound),
    },
    stop() {
      state = "over";
      hasEnded = true;
      cancel?.();
    },
    found: () => found,
  };
}
