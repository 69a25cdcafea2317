import { setMaxListeners } from "node:events";

/** An abort that any number of waits may listen to at once; Node warns of a leak from the eleventh on. */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/**
 * A signal that aborts with the first of several, and with its reason. Not `AbortSignal.any`: Node 20 may collect such a
 * signal as garbage before it fires.
 */
export function abortsWith(signals: (AbortSignal | undefined)[]): {
  signal: AbortSignal;
  /** To be called when the signal is not needed any more. */
  release(): void;
} {
  const controller = sharedAbort();
  const listeners = signals.flatMap((signal) => {
    if (signal === undefined) return [];
    const stop = (): void => controller.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    return [() => signal.removeEventListener("abort", stop)];
  });
  return {
    signal: controller.signal,
    release() {
      for (const stopListening of listeners) stopListening();
    },
  };
}

/** Whoever does not listen to the signal is not waited for. @throws the signal's reason, or what the work throws */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    const settled = (): void => signal.removeEventListener("abort", stop);
    work.then(resolve, reject).finally(settled);
  });
}
