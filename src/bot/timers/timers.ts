import { Semaphore } from "async-mutex";
import type { StoredMessage } from "../../model/answerer.ts";
import { giveWay } from "../../model/give-way.ts";
import { nothingSaid, type Incoming } from "../../model/messages.ts";
import { SECOND_MS, type Time } from "../../model/time.ts";
import { NotOwner } from "../../store/errors.ts";
import type { Writer } from "../../store/store.ts";
import type { Alarm } from "./alarm.ts";
import { isSignal } from "./signal-rows.ts";
import type { SilentSessions } from "../sessions/silent-sessions.ts";
import { EXPIRED_AT_ONCE, type BotState } from "../sessions/state.ts";
import { namedTimer } from "./timer-calls.ts";
import type { DueTimer, TimerBody } from "./timer-rows.ts";

interface TimersDeps {
  state: Pick<BotState, "dueTimers" | "nextTimers" | "expired" | "giveUpSignal">;
  /** Told by `state` of what is stored. */
  alarm: Alarm;
  silent: SilentSessions;
  commit: Writer["commit"];
  /** Turns the timer into a message that waits for its decision; null when it was cancelled meanwhile. */
  record(timerId: number, deviceId: number, message: Incoming): Promise<number | null>;
  /** Stores it by `record`, and brings it to its decision. */
  deliver(deviceId: number, record: () => Promise<StoredMessage | null>): Promise<void>;
  /** Digits of a number, or null when it is gone. */
  numberOf(deviceId: number): string | null;
  /** The chat's key now: its number's form, when that became known after the timer was set. */
  canonicalChat(deviceId: number, jid: string): Promise<string>;
  /** Whether this process does what is to be done once for all numbers. */
  isLeader(): boolean;
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
/** Due timers of one number that fire before other numbers have a turn. */
const IN_A_TURN = 25;
/** Numbers whose timers fire at the same time: their commits go together. */
const NUMBERS_FIRING = 16;
/** Numbers whose next timer is looked up at once. */
const NUMBERS_AT_ONCE = 500;

/** Timers of bots. A due one takes the path of a message: lane of its chat, guards, one commit, outbox. */
export function createTimers(deps: TimersDeps): Timers {
  const { state, alarm, time } = deps;
  const numbers = new Set<number>();
  /** Numbers whose timers fire now; true: its alarm has rung again meanwhile. */
  const firing = new Map<number, boolean>();
  const turns = new Semaphore(NUMBERS_FIRING);
  const underWay = new Set<Promise<void>>();
  let stopped = true;
  let cancels: (() => void)[] = [];
  let swept: Promise<void> = Promise.resolve();

  function track(work: Promise<void>): Promise<void> {
    const ended = work.catch(deps.onError).finally(() => underWay.delete(ended));
    underWay.add(ended);
    return ended;
  }

  /** Every number has a run of its own: one with ten thousand timers keeps no other one waiting. */
  function runDue(): void {
    for (const deviceId of alarm.take()) {
      if (stopped || !numbers.has(deviceId)) continue;
      if (firing.has(deviceId)) firing.set(deviceId, true);
      else void track(run(deviceId));
    }
  }

  async function run(deviceId: number): Promise<void> {
    try {
      do {
        firing.set(deviceId, false);
        while (await turns.runExclusive(() => fireSome(deviceId)));
      } while (firing.get(deviceId) === true);
      firing.delete(deviceId);
      if (isOpen(deviceId)) await lookUp([deviceId]);
    } catch (error) {
      if (!(error instanceof NotOwner)) throw error;
      numbers.delete(deviceId);
    } finally {
      firing.delete(deviceId);
    }
  }

  const isOpen = (deviceId: number): boolean => !stopped && numbers.has(deviceId);

  async function lookUp(deviceIds: readonly number[]): Promise<void> {
    for (const [deviceId, at] of await state.nextTimers(deviceIds)) alarm.expect(deviceId, at);
  }

  /** A timer may have been stored by somebody who tells nobody, or the database may have been away when a timer was due. */
  async function sweep(): Promise<void> {
    const all = [...numbers];
    for (let from = 0; from < all.length; from += NUMBERS_AT_ONCE) {
      await lookUp(all.slice(from, from + NUMBERS_AT_ONCE));
      await giveWay();
    }
    // Once in all processes.
    if (!deps.isLeader()) return;
    await deps.silent.step(time.now());
    while (await removeSome());
  }

  async function removeSome(): Promise<boolean> {
    const results = stopped ? [] : await deps.commit(state.expired(time.now()), { owning: null });
    return results.some(({ rowsAffected }) => rowsAffected >= EXPIRED_AT_ONCE);
  }

  /** @returns whether there may be more */
  async function fireSome(deviceId: number): Promise<boolean> {
    if (!isOpen(deviceId)) return false;
    const due = await state.dueTimers(deviceId, time.now(), IN_A_TURN);
    for (const timer of due) if (isOpen(deviceId)) await fire(timer);
    return due.length > 0;
  }

  async function fire(timer: DueTimer): Promise<void> {
    const { deviceId, id, key, body } = timer;
    const owning = { owning: deviceId };
    if (isSignal(key)) return void (await deps.commit(state.giveUpSignal(id), owning));
    if (body === null) {
      await deps.commit([{ sql: "DELETE FROM bot_timers WHERE id = ?", args: [id] }], owning);
      deps.onDropped(timer);
      return;
    }
    const ownNumber = deps.numberOf(deviceId);
    const sender = await deps.canonicalChat(deviceId, body.sender);
    const message = messageOf(timer, withNumber(body, sender), time.now());
    await deps.deliver(deviceId, async () => {
      const inboxId = await deps.record(timer.id, deviceId, message);
      return inboxId === null || ownNumber === null ? null : { inboxId, deviceId, ownNumber, message };
    });
  }

  return {
    start() {
      stopped = false;
      cancels = [
        alarm.ring(runDue),
        time.every(SWEEP_MS, () => {
          swept = swept.then(() => (stopped ? undefined : track(sweep())));
        }),
      ];
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
      await swept;
      await Promise.all(underWay);
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
  const { chat, chatKey, chatKind, sender, number, lid, pushName, participant, data, expiresAt } = body;
  const { id: ownId, key: called } = namedTimer(key);
  return {
    ...nothingSaid(),
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
    timer: {
      botId,
      key: called,
      data,
      ...(ownId !== null && { id: ownId }),
      ...(expiresAt !== undefined && { expiresAt }),
    },
  };
}
