import { systemTime, type Cancel } from "../../model/time.ts";
import { FILE_MS } from "./limits.ts";
import { startDecoderProcess, Unreadable, type DecoderProcess } from "./process.ts";
import type { JobName, Jobs } from "./protocol.ts";

/**
 * Reads files of strangers in a process of its own, which has limits of time and memory and is killed when it exceeds
 * them. It is started when there is something to read and ended when there has been nothing for a while.
 */
export interface Decoder {
  /**
   * One job after the other.
   *
   * @throws {Unreadable}
   * @throws {DecoderAway}
   */
  ask<Name extends JobName>(job: Name, asks: Jobs[Name]["asks"]): Promise<Jobs[Name]["answers"]>;
  /** Ends the process and what it is at. */
  stop(): void;
}

const IDLE_MS = 15_000;
/** A new process is begun now and then, so that nothing grows in it, and one that lost its gateway ends by its limit. */
const RETIRES_AFTER_MS = 40_000;

let shared: Decoder | null = null;

/** The one of this process, whoever has files to read. */
export function sharedDecoder(): Decoder {
  return (shared ??= createDecoder());
}

/** @param fileMs for one file; default {@link FILE_MS} */
export function createDecoder(fileMs: number = FILE_MS): Decoder {
  let current: DecoderProcess | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let calledOff: Cancel | null = null;
  let stopped = false;
  const exit = (): void => current?.end();
  process.once("exit", exit);

  async function started(): Promise<DecoderProcess> {
    if (current !== null && !current.ended && current.worked < RETIRES_AFTER_MS) return current;
    current?.end();
    current = await startDecoderProcess(fileMs);
    if (stopped) current.end();
    return current;
  }

  async function carryOut<Name extends JobName>(
    job: Name,
    asks: Jobs[Name]["asks"],
  ): Promise<Jobs[Name]["answers"]> {
    calledOff?.();
    if (stopped) throw new Unreadable("The gateway is stopping.");
    const decoder = await started();
    try {
      const answer = await decoder.ask({ job, asks });
      if ("isFull" in answer && answer.isFull) decoder.end();
      if ("answers" in answer) return answer.answers;
      throw new Unreadable("failed" in answer ? answer.failed : "It said nothing.");
    } finally {
      calledOff = systemTime.after(IDLE_MS, exit);
    }
  }

  return {
    ask(job, asks) {
      const turn = last.then(() => carryOut(job, asks));
      last = turn.catch(() => undefined);
      return turn;
    },
    stop() {
      stopped = true;
      calledOff?.();
      process.removeListener("exit", exit);
      exit();
    },
  };
}
