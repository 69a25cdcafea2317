import type { Program } from "./programs.ts";

/** So many ends in a row before it was ready, and it is not started again. */
const MOST_FAILURES = 3;

/** A program that is started again whenever it ends, however it ends. */
export interface Kept {
  /** Whether it answers. */
  isUp(): boolean;
  /** How often it was started again. */
  restarts(): number;
  /** Resolves when it answers. */
  up(): Promise<void>;
  /** SIGKILL: nothing in it is told, nothing is written any more. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** Called when it comes up or goes. */
  onChange(listener: () => void): void;
  /** Never resolves; rejects when it ends again and again before it is ready. */
  givenUp: Promise<never>;
  /** For good. */
  stop(): Promise<void>;
}

/**
 * Starts a program and keeps it running.
 *
 * @param launch     starts it
 * @param untilReady resolves when it answers
 */
export function keepRunning(launch: () => Program, untilReady: () => Promise<void>): Kept {
  let program: Program;
  let isUp = false;
  let restarts = 0;
  let failures = 0;
  let giveUp!: (reason: unknown) => void;
  const listeners = new Set<() => void>();
  const waiting = new Set<() => void>();
  const givenUp = new Promise<never>((_, reject) => (giveUp = reject));
  givenUp.catch(() => {});

  const turn = (now: boolean): void => {
    isUp = now;
    if (now) for (const resolve of waiting) resolve();
    if (now) waiting.clear();
    for (const listener of listeners) listener();
  };
  const start = (): void => {
    const own = launch();
    program = own;
    void untilReady().then(() => {
      if (program !== own || own.child.exitCode !== null || own.child.signalCode !== null) return;
      failures = 0;
      turn(true);
    });
    own.crashed.catch((reason: unknown) => {
      failures = isUp ? 0 : failures + 1;
      turn(false);
      if (failures >= MOST_FAILURES) return giveUp(reason);
      restarts += 1;
      start();
    });
  };
  start();
  return {
    isUp: () => isUp,
    restarts: () => restarts,
    up: () => (isUp ? Promise.resolve() : new Promise<void>((resolve) => void waiting.add(resolve))),
    kill: () => program.kill(),
    onChange: (listener) => void listeners.add(listener),
    givenUp,
    stop: () => program.stop(),
  };
}
