import { MINUTE_MS, SECOND_MS, type Time } from "../model/time.ts";
import { createLru } from "../model/lru.ts";

/** What WhatsApp answered about one group or channel; `null` inside: there is none, or the number has no part in it. */
export interface OneAnswer<T> {
  value: T | null;
}

/** Questions about one group or channel each, for sends: none is asked twice at once, or again at once. */
export interface OneByOne<T> {
  /**
   * @param ask the question to WhatsApp
   * @returns null when WhatsApp gives no answer now, or was asked too often
   */
  ask(deviceId: number, id: string, ask: () => Promise<T | null>): Promise<OneAnswer<T> | null>;
  /** Something changed: what was answered says nothing any more. Without ids: all of the number. */
  changed(deviceId: number, ids?: string[]): void;
}

/** What lets a send pass is believed for longer than what stops it: WhatsApp tells of changes, and of itself refuses. */
const OPEN_MS = 10 * MINUTE_MS;
const CLOSED_MS = 10 * SECOND_MS;
/** A caller waits for it; whatever comes later is kept for the next one. */
const PATIENCE_MS = 10 * SECOND_MS;
/** Of one number, whatever it is asked about. */
const ASKED_PER_MINUTE = 20;
const MAX_ANSWERS = 5_000;
const MAX_NUMBERS = 10_000;

/** @param isOpen whether something may be sent there */
export function createOneByOne<T>(
  time: Pick<Time, "now" | "deadline">,
  isOpen: (value: T) => boolean,
): OneByOne<T> {
  const answers = createLru<string, OneAnswer<T> & { until: number; at: number }>(MAX_ANSWERS);
  const asking = new Map<string, Promise<OneAnswer<T>>>();
  const asked = createLru<number, { since: number; times: number }>(MAX_NUMBERS);

  function mayAsk(deviceId: number): boolean {
    const now = time.now();
    const known = asked.get(deviceId);
    const minute = known && Math.abs(now - known.since) < MINUTE_MS ? known : { since: now, times: 0 };
    asked.set(deviceId, minute);
    return ++minute.times <= ASKED_PER_MINUTE;
  }

  async function question(key: string, ask: () => Promise<T | null>): Promise<OneAnswer<T>> {
    const at = time.now();
    const value = await ask();
    const keptMs = value !== null && isOpen(value) ? OPEN_MS : CLOSED_MS;
    // Whatever changed while it was asked may be newer than the answer.
    if (asking.has(key)) answers.set(key, { value, at, until: time.now() + keptMs });
    return { value };
  }

  return {
    async ask(deviceId, id, ask) {
      const key = `${deviceId} ${id}`;
      const known = answers.get(key);
      if (known !== undefined && time.now() >= known.at && time.now() < known.until) return known;
      let answer = asking.get(key);
      if (answer === undefined) {
        if (!mayAsk(deviceId)) return null;
        const fresh = question(key, ask).finally(() => {
          if (asking.get(key) === fresh) asking.delete(key);
        });
        answer = fresh;
        asking.set(key, answer);
      }
      return time.deadline(PATIENCE_MS, answer, () => new Error("late")).catch(() => null);
    },

    changed(deviceId, ids = []) {
      const forget = (key: string): void => {
        answers.delete(key);
        asking.delete(key);
      };
      if (ids.length > 0) return ids.forEach((id) => forget(`${deviceId} ${id}`));
      const ofDevice = [...answers.keys(), ...asking.keys()].filter((key) => key.startsWith(`${deviceId} `));
      ofDevice.forEach(forget);
    },
  };
}
