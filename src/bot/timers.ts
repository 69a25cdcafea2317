import type { Incoming } from "../model/messages.ts";
import type { StoredMessage } from "../model/answerer.ts";
import type { Statement } from "../model/statement.ts";
import type { BotState, DueTimer, TimerBody } from "./state.ts";

export interface TimersDeps {
  state: Pick<BotState, "dueTimers" | "nextTimer" | "expired">;
  commit(statements: Statement[]): Promise<unknown>;
  /** Turns the timer into a message that waits for its decision; null when it was cancelled meanwhile. */
  record(timerId: number, deviceId: number, message: Incoming): Promise<number | null>;
  deliver(stored: StoredMessage): Promise<void>;
  /** Digits of a number, or null when it is gone. */
  numberOf(deviceId: number): string | null;
  /** The chat's key now: its number's form, when that became known after the timer was set. Default: as it was. */
  canonicalChat?(deviceId: number, jid: string): Promise<string>;
  now: () => number;
  /** Calls once after `ms`; the result cancels it. */
  schedule: (ms: number, run: () => void) => () => void;
  onError(error: unknown): void;
}

export interface Timers {
  start(): void;
  /** A timer is about to be stored. */
  expect(dueAt: number): void;
  /** Begins nothing more; resolves when what is under way is done. */
  stop(): Promise<void>;
}

const SWEEP_MS = 30_000;
const AT_ONCE = 100;
/** The commit that stores a timer comes after its announcement. */
const SOONEST_MS = 20;

/** Timers of bots. A due one takes the path of a message: lane of its chat, guards, one commit, outbox. */
export function createTimers(deps: TimersDeps): Timers {
  const { state, now } = deps;
  let stopped = true;
  let cancel: (() => void) | null = null;
  let plannedAt = Infinity;
  let running: Promise<void> = Promise.resolve();

  function plan(at: number): void {
    if (stopped || at >= plannedAt) return;
    cancel?.();
    plannedAt = at;
    cancel = deps.schedule(Math.max(SOONEST_MS, at - now()), () => {
      plannedAt = Infinity;
      cancel = null;
      running = sweep();
    });
  }

  async function sweep(): Promise<void> {
    try {
      while (await fireSome());
      await deps.commit(state.expired(now()));
      plan(Math.min((await state.nextTimer()) ?? Infinity, now() + SWEEP_MS));
    } catch (error) {
      deps.onError(error);
      plan(now() + SWEEP_MS);
    }
  }

  /** @returns whether there may be more */
  async function fireSome(): Promise<boolean> {
    const due = stopped ? [] : await state.dueTimers(now(), AT_ONCE);
    for (const timer of due) await fire(timer);
    return due.length > 0;
  }

  async function fire(timer: DueTimer): Promise<void> {
    const { deviceId, id, body } = timer;
    if (body === null) {
      await deps.commit([{ sql: "DELETE FROM bot_timers WHERE id = ?", args: [id] }]);
      deps.onError(new Error(`A timer of the bot "${timer.botId}" does not open; it is dropped.`));
      return;
    }
    const ownNumber = deps.numberOf(deviceId);
    const sender = (await deps.canonicalChat?.(deviceId, body.sender)) ?? body.sender;
    const message = messageOf(timer, withNumber(body, sender), now());
    const inboxId = await deps.record(timer.id, deviceId, message);
    if (inboxId === null || ownNumber === null) return;
    await deps.deliver({ inboxId, deviceId, ownNumber, message });
  }

  return {
    start() {
      stopped = false;
      plan(now());
    },
    expect: plan,
    async stop() {
      stopped = true;
      cancel?.();
      await running;
    },
  };
}

/** The writer as known now. */
function withNumber(body: TimerBody, sender: string): TimerBody {
  if (sender === body.sender) return body;
  const chatKey = body.chatKey === body.sender ? sender : body.chatKey;
  return { ...body, sender, chatKey, lid: body.lid ?? body.sender, number: sender.replace(/@.*$/, "") };
}

function messageOf({ id, botId, key }: DueTimer, body: TimerBody, now: number): Incoming {
  const { chat, chatKey, chatKind, sender, number, lid, pushName, participant, data } = body;
  return {
    id: `timer:${id}`,
    chat,
    chatKey,
    chatKind: chatKind as Incoming["chatKind"],
    sender,
    number,
    lid,
    participant,
    fromMe: false,
    pushName,
    timestamp: Math.floor(now / 1000),
    type: "unknown",
    text: "",
    quoted: null,
    mentions: [],
    location: null,
    contacts: null,
    reaction: null,
    targetId: null,
    raw: "",
    timer: { botId, key, data },
  };
}
