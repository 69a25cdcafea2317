import type { StoredMessage } from "../model/answerer.ts";
import { giveWay } from "../model/give-way.ts";
import type { Incoming } from "../model/messages.ts";
import type { Statement } from "../model/statement.ts";
import { SECOND_MS, type Time } from "../model/time.ts";
import type { Alarm } from "./alarm.ts";
import type { SilentSessions } from "./silent-sessions.ts";
import { EXPIRED_AT_ONCE, type BotState } from "./state.ts";
import type { DueTimer, TimerBody } from "./timer-rows.ts";

interface TimersDeps {
  state: Pick<BotState, "dueTimers" | "nextTimers" | "expired">;
  /** Told by `state` of what is about to be stored. */
  alarm: Alarm;
  silent: SilentSessions;
  commit(statements: Statement[]): Promise<{ rowsAffected: number }[]>;
  /** Turns the timer into a message that waits for its decision; null when it was cancelled meanwhile. */
  record(timerId: number, deviceId: number, message: Incoming): Promise<number | null>;
  deliver(stored: StoredMessage): void;
  /** Digits of a number, or null when it is gone. */
  numberOf(deviceId: number): string | null;
  /** The chat's key now: its number's form, when that became known after the timer was set. */
  canonicalChat(deviceId: number, jid: string): Promise<string>;
  time: Pick<Time, "now" | "every">;
  onError(error: unknown): void;
  /** What is stored of it does not open. */
  onDropped(timer: Pick<DueTimer, "deviceId" | "botId">): void;
}

/** Runs the timers of the numbers that are open. */
export interface Timers {
  /** Begins to run them, and to look every half minute for what nobody has announced. */
  start(): void;
  /** @throws StorageUnavailable; the number is open all the same, and looked at within half a minute */
  open(deviceId: number): Promise<void>;
  close(deviceId: number): void;
  /** Begins nothing more; resolves when what is under way is done. */
  stop(): Promise<void>;
}

const SWEEP_MS = 30 * SECOND_MS;
/** Due timers that are read at once. */
const AT_ONCE = 100;
/** Numbers whose next timer is looked up at once. */
const NUMBERS_AT_ONCE = 500;

/** Timers of bots. A due one takes the path of a message: lane of its chat, guards, one commit, outbox. */
export function createTimers(deps: TimersDeps): Timers {
  const { state, alarm, time } = deps;
  const numbers = new Set<number>();
  let stopped = true;
  let cancels: (() => void)[] = [];
  let running: Promise<void> = Promise.resolve();

  const inTurn = (work: () => Promise<void>): Promise<void> =>
    (running = running.then(() => (stopped ? undefined : work())).catch(deps.onError));

  async function runDue(): Promise<void> {
    for (const deviceId of alarm.take()) {
      if (stopped || !numbers.has(deviceId)) continue;
      while (await fireSome(deviceId));
      await lookUp([deviceId]);
    }
  }

  async function lookUp(deviceIds: readonly number[]): Promise<void> {
    for (const [deviceId, at] of await state.nextTimers(deviceIds)) alarm.expect(deviceId, at);
  }

  /** A commit may come later than its announcement, or the database may have been away when a timer was due. */
  async function sweep(): Promise<void> {
    const all = [...numbers];
    for (let from = 0; from < all.length; from += NUMBERS_AT_ONCE) {
      await lookUp(all.slice(from, from + NUMBERS_AT_ONCE));
      await giveWay();
    }
    await deps.silent.step(time.now());
    while (await removeSome());
  }

  async function removeSome(): Promise<boolean> {
    const results = stopped ? [] : await deps.commit(state.expired(time.now()));
    return results.some(({ rowsAffected }) => rowsAffected >= EXPIRED_AT_ONCE);
  }

  /** @returns whether there may be more */
  async function fireSome(deviceId: number): Promise<boolean> {
    if (stopped || !numbers.has(deviceId)) return false;
    const due = await state.dueTimers(deviceId, time.now(), AT_ONCE);
    for (const timer of due) if (!stopped) await fire(timer);
    return due.length > 0;
  }

  async function fire(timer: DueTimer): Promise<void> {
    const { deviceId, id, body } = timer;
    if (body === null) {
      await deps.commit([{ sql: "DELETE FROM bot_timers WHERE id = ?", args: [id] }]);
      deps.onDropped(timer);
      return;
    }
    const ownNumber = deps.numberOf(deviceId);
    const sender = await deps.canonicalChat(deviceId, body.sender);
    const message = messageOf(timer, withNumber(body, sender), time.now());
    const inboxId = await deps.record(timer.id, deviceId, message);
    if (inboxId === null || ownNumber === null) return;
    deps.deliver({ inboxId, deviceId, ownNumber, message });
  }

  return {
    start() {
      stopped = false;
      cancels = [alarm.ring(() => void inTurn(runDue)), time.every(SWEEP_MS, () => void inTurn(sweep))];
    },
    async open(deviceId) {
      numbers.add(deviceId);
      await lookUp([deviceId]);
    },
    close(deviceId) {
      numbers.delete(deviceId);
      alarm.forget(deviceId);
    },
    async stop() {
      stopped = true;
      for (const cancel of cancels) cancel();
      await running;
    },
  };
}

/** The writer as known now. */
function withNumber(body: TimerBody, sender: string): TimerBody {
  if (sender === body.sender) return body;
  const chatKey = body.chatKey === body.sender ? sender : body.chatKey;
  return { ...body, sender, chatKey, lid: body.lid ?? body.sender, number: sender.replace(/@.*/s, "") };
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
