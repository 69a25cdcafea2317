import { giveWay } from "../../model/give-way.ts";
import { createShares } from "../../model/shares/shares.ts";
import { SECOND_MS } from "../../model/time.ts";
import { openTimers, type NumberTimers, type TimersDeps, type TimersNumber } from "./number-timers.ts";
import { EXPIRED_AT_ONCE } from "../sessions/state.ts";

/** Runs the timers of the numbers that are open. */
export interface Timers {
  /** Begins to run them, and to look every half minute for what nobody has announced. */
  start(): void;
  open(number: TimersNumber): NumberTimers;
  /** Begins nothing more; resolves when what is under way is done. */
  stop(): Promise<void>;
}

const SWEEP_MS = 30 * SECOND_MS;
/** Numbers whose timers fire at the same time: their commits go together. An account with none of them need not wait for the others. */
const FIRING = { all: 16, each: 16, most: 32 };
/** Numbers whose next timer is looked up at once. */
const NUMBERS_AT_ONCE = 500;

/** Timers of bots. A due one takes the path of a message: lane of its chat, guards, one commit, outbox. */
export function createTimers(deps: TimersDeps): Timers {
  const { state, time } = deps;
  const opened = new Set<NumberTimers>();
  const turns = createShares(FIRING);
  let started = false;
  let endSweeps: (() => void) | null = null;
  let swept: Promise<void> = Promise.resolve();

  /** A timer may have been stored by somebody who tells nobody, or the database may have been away when a timer was due. */
  async function sweep(): Promise<void> {
    const all = [...opened];
    for (let from = 0; from < all.length; from += NUMBERS_AT_ONCE) {
      const some = new Map(all.slice(from, from + NUMBERS_AT_ONCE).map((one) => [one.deviceId, one]));
      for (const [deviceId, at] of await state.nextTimers([...some.keys()])) some.get(deviceId)!.expect(at);
      await giveWay();
    }
    // Once in all processes.
    if (!deps.isLeader()) return;
    await deps.silent.step(time.now());
    while (await removeSome());
  }

  async function removeSome(): Promise<boolean> {
    const results = started ? await deps.commit(state.expired(time.now()), { owning: null }) : [];
    return results.some(({ rowsAffected }) => rowsAffected >= EXPIRED_AT_ONCE);
  }

  return {
    start() {
      started = true;
      for (const number of opened) number.start();
      endSweeps = time.every(SWEEP_MS, () => {
        swept = swept.then(() => (started ? sweep().catch(deps.onError) : undefined));
      });
    },
    open(own) {
      const number = openTimers({ ...deps, turns, onClosed: () => void opened.delete(number) }, own);
      opened.add(number);
      if (started) number.start();
      return number;
    },
    async stop() {
      started = false;
      endSweeps?.();
      await Promise.all([swept, ...Array.from(opened, ({ close }) => close())]);
    },
  };
}
