/**
 * Waits, or ends at once with the signal. The package runs in browsers as well, and so has a timer of its own.
 *
 * @throws the signal's reason
 */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
  });
}

/** An attempt's own signal: that of its caller, and a limit that can be moved. */
export interface Limit {
  readonly signal: AbortSignal;
  /** Begins to count anew. */
  again(): void;
  /** Lets go of timer and caller's signal. */
  end(): void;
}

/** @param ms after which the signal aborts with a `TimeoutError` */
export function limit(ms: number, signal?: AbortSignal): Limit {
  const own = new AbortController();
  const follow = (): void => own.abort(signal?.reason);
  const late = (): void => own.abort(new DOMException(`No data arrived for ${ms} ms.`, "TimeoutError"));
  let timer = setTimeout(late, ms);
  if (signal?.aborted) follow();
  else signal?.addEventListener("abort", follow, { once: true });
  return {
    signal: own.signal,
    again() {
      clearTimeout(timer);
      timer = setTimeout(late, ms);
    },
    end() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", follow);
    },
  };
}

/** How long to wait before the next attempt: half a second doubled each time, at most 20 s, less a random half of it. */
export const backoffMs = (failures: number, random: number = Math.random()): number =>
  Math.min(20_000, 500 * 2 ** Math.min(failures - 1, 10)) * (1 - random / 2);
