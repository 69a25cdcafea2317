import type { StoredMessage } from "../../model/answerer.ts";
import { nothingSaid, type Incoming } from "../../model/messages.ts";
import type { Shares } from "../../model/shares/shares.ts";
import { NotOwner } from "../../store/errors.ts";
import type { Writer } from "../../store/store.ts";
import type { Time } from "../../model/time.ts";
import type { SilentSessions } from "../sessions/silent-sessions.ts";
import type { BotState } from "../sessions/state.ts";
import { createAlarm } from "./alarm.ts";
import { isSignal } from "./signal-rows.ts";
import { namedTimer } from "./timer-calls.ts";
import type { DueTimer, TimerBody } from "./timer-rows.ts";

/** What the timers of all numbers share. */
export interface TimersDeps {
  state: Pick<BotState, "dueTimers" | "nextTimers" | "expired" | "giveUpSignal">;
  silent: SilentSessions;
  commit: Writer["commit"];
  /** Digits of a number, or null when it is gone. */
  numberOf(deviceId: number): string | null;
  /** Null when nobody knows. */
  accountOf(deviceId: number): string | null;
  /** The chat's key now: its number's form, when that became known after the timer was set. */
  canonicalChat(deviceId: number, jid: string): Promise<string>;
  /** Whether this process does what is to be done once for all numbers. */
  isLeader(): boolean;
  time: Pick<Time, "now" | "every" | "after">;
  onError(error: unknown): void;
  /** What is stored of it does not open. */
  onDropped(timer: Pick<DueTimer, "deviceId" | "botId">): void;
}

/** A number as its timers see it. */
export interface TimersNumber {
  deviceId: number;
  /** Writes as whoever has the number. */
  commit: Writer["commit"];
  /** Turns the timer into a message that waits for its decision; null when it was cancelled meanwhile. */
  record(timerId: number, deviceId: number, message: Incoming): Promise<number | null>;
  /** Stores it by `record`, and brings it to its decision. */
  deliver(record: () => Promise<StoredMessage | null>): Promise<void>;
}

/** Runs the timers of one number's bots. */
export interface NumberTimers {
  readonly deviceId: number;
  /** Begins to run them. */
  start(): void;
  /** Looks when the next one is due. @throws StorageUnavailable; it is looked for within half a minute all the same */
  look(): Promise<void>;
  /** A timer is stored, and due then, Unix milliseconds. */
  expect(dueAt: number): void;
  /** The clock was set back by so many milliseconds. */
  onClockMoved(ms: number): void;
  /** Begins nothing more; resolves when what is under way is done. */
  close(): Promise<void>;
}

interface NumberTimersDeps extends TimersDeps {
  /** Of accounts, in the numbers that fire at the same time. */
  turns: Shares;
  onClosed(): void;
}

/** Due timers of one number that fire before other numbers have a turn. */
const IN_A_TURN = 25;

/** Every number has a run of its own: one with ten thousand timers keeps no other one waiting. */
export function openTimers(deps: NumberTimersDeps, number: TimersNumber): NumberTimers {
  const { state, time } = deps;
  const { deviceId } = number;
  const alarm = createAlarm(time, () => {
    if (running === null) running = run().catch(deps.onError);
    else rungMeanwhile = true;
  });
  let running: Promise<void> | null = null;
  let rungMeanwhile = false;
  let closed = false;

  const account = (): string => deps.accountOf(deviceId) ?? `number ${deviceId}`;
  const hasRung = (): boolean => rungMeanwhile && !closed;

  async function run(): Promise<void> {
    try {
      do {
        rungMeanwhile = false;
        while (await deps.turns(account(), fireSome));
        await look();
      } while (hasRung());
    } catch (error) {
      if (!(error instanceof NotOwner)) throw error;
      void close();
    } finally {
      running = null;
    }
  }

  async function look(): Promise<void> {
    if (closed) return;
    for (const [, at] of await state.nextTimers([deviceId])) alarm.expect(at);
  }

  /** @returns whether there may be more */
  async function fireSome(): Promise<boolean> {
    if (closed) return false;
    const due = await state.dueTimers(deviceId, time.now(), IN_A_TURN);
    for (const timer of due) if (!closed) await fire(timer);
    return due.length > 0;
  }

  async function fire(timer: DueTimer): Promise<void> {
    const { id, key, body } = timer;
    if (isSignal(key)) return void (await number.commit(state.giveUpSignal(id), { owning: deviceId }));
    if (body === null) {
      const dropped = { sql: "DELETE FROM bot_timers WHERE id = ?", args: [id] };
      await number.commit([dropped], { owning: deviceId });
      deps.onDropped(timer);
      return;
    }
    const ownNumber = deps.numberOf(deviceId);
    const sender = await deps.canonicalChat(deviceId, body.sender);
    const message = messageOf(timer, withNumber(body, sender), time.now());
    await number.deliver(async () => {
      const inboxId = await number.record(timer.id, deviceId, message);
      return inboxId === null || ownNumber === null ? null : { inboxId, deviceId, ownNumber, message };
    });
  }

  async function close(): Promise<void> {
    closed = true;
    alarm.stop();
    deps.onClosed();
    await running;
  }

  return {
    deviceId,
    start: alarm.start,
    look,
    expect: alarm.expect,
    onClockMoved: alarm.onClockMoved,
    close,
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
