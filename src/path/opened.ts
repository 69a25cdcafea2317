import { NotOwner } from "../store/errors.ts";
import type { OpenNumber } from "./number.ts";

interface OpenNumbersDeps {
  /** @param onLost a commit has shown that another process has the number */
  openNumber(deviceId: number, onLost: () => void): OpenNumber;
  /** The same, once for each opening. */
  onLost?: ((deviceId: number) => void) | undefined;
}

/** The numbers that this process has. What a process does is the sum of them. */
export interface OpenNumbers {
  /** Null: it is not open here. */
  get(deviceId: number): OpenNumber | null;
  all(): Iterable<OpenNumber>;
  /**
   * Idempotent. A number that is being closed is opened when it is.
   *
   * @throws StorageUnavailable, NotOwner when another process has it; call it again
   */
  open(deviceId: number): Promise<void>;
  /** Idempotent. */
  close(deviceId: number): Promise<void>;
  /** Those that are open, and that will be, begin what looks at the clock. */
  start(): void;
  /** Opens nothing more; resolves when all that is under way has ended. */
  drain(): Promise<void>;
}

/** None is open. */
export function createOpenNumbers({ openNumber, onLost }: OpenNumbersDeps): OpenNumbers {
  const numbers = new Map<number, OpenNumber>();
  /** Those that another process turned out to have. */
  const lost = new WeakSet<OpenNumber>();
  /** Of numbers that were closed: what was under way then. */
  const leaving = new Set<Promise<void>>();
  let started = false;
  let draining = false;

  function get(deviceId: number): OpenNumber | null {
    const number = numbers.get(deviceId);
    return number === undefined || number.closed !== null ? null : number;
  }

  async function open(deviceId: number): Promise<void> {
    for (let before = numbers.get(deviceId); before?.closed; before = numbers.get(deviceId))
      await before.closed;
    if (draining) return;
    const number = numbers.get(deviceId) ?? begin(deviceId);
    try {
      await number.opened;
      if (lost.has(number)) throw new NotOwner(deviceId);
    } catch (error) {
      // Whoever opens it again begins anew.
      void end(number);
      throw error;
    }
  }

  function begin(deviceId: number): OpenNumber {
    const number = openNumber(deviceId, () => {
      if (number.closed !== null) return;
      lost.add(number);
      void end(number);
      onLost?.(deviceId);
    });
    numbers.set(deviceId, number);
    if (started) number.start();
    return number;
  }

  function end(number: OpenNumber): Promise<void> {
    const underWay = number.drain().finally(() => leaving.delete(underWay));
    leaving.add(underWay);
    const { deviceId } = number;
    return number.close().finally(() => {
      if (numbers.get(deviceId) === number) numbers.delete(deviceId);
    });
  }

  return {
    get,
    all: () => numbers.values(),
    open,
    async close(deviceId) {
      const number = numbers.get(deviceId);
      if (number !== undefined) await (number.closed ?? end(number));
    },
    start() {
      started = true;
      for (const number of numbers.values()) number.start();
    },
    async drain() {
      draining = true;
      await Promise.all([...leaving, ...Array.from(numbers.values(), (number) => number.drain())]);
    },
  };
}
