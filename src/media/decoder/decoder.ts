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
   * One job after the other. One that takes long is finished beside those that come after it.
   *
   * @throws {Unreadable}
   * @throws {DecoderAway}
   */
  ask<Name extends JobName>(job: Name, asks: Jobs[Name]["asks"]): Promise<Jobs[Name]["answers"]>;
  /** Ends the processes and what they are at. */
  stop(): void;
}

const IDLE_MS = 15_000;
/** A new process is begun now and then, so that nothing grows in it, and one that lost its gateway ends by its limit. */
const RETIRES_AFTER_MS = 40_000;
/** Nobody waits longer than this for a file of somebody else, while there is room beside. */
const ASIDE_AFTER_MS = 300;
/** Each may take as much memory as its limit allows. */
const MOST_ASIDE = 1;

let shared: Decoder | null = null;

/** The one of this process, whoever has files to read. */
export function sharedDecoder(): Decoder {
  return (shared ??= createDecoder());
}

/** @param fileMs for one file; default {@link FILE_MS} */
export function createDecoder(fileMs: number = FILE_MS): Decoder {
  const processes = createProcesses(fileMs);
  let last: Promise<unknown> = Promise.resolve();
  let aside = 0;
  /** Lets the next job begin although this one has not ended; null unless it has taken long. */
  let stepAside: (() => void) | null = null;

  /** @param passOn lets the next job begin */
  async function carryOut<Name extends JobName>(
    job: Name,
    asks: Jobs[Name]["asks"],
    passOn: () => void,
  ): Promise<Jobs[Name]["answers"]> {
    const decoder = await processes.take();
    let isAside = false;
    function leave(): void {
      stepAside = null;
      isAside = true;
      aside++;
      passOn();
    }
    const overdue = systemTime.after(ASIDE_AFTER_MS, () => {
      stepAside = leave;
      if (aside < MOST_ASIDE) leave();
    });
    let isFull = false;
    try {
      const answer = await decoder.ask({ job, asks });
      isFull = "isFull" in answer && answer.isFull;
      if ("answers" in answer) return answer.answers;
      throw new Unreadable("failed" in answer ? answer.failed : "No reason was given.");
    } finally {
      overdue();
      processes.giveBack(decoder, isFull);
      if (!isAside) stepAside = null;
      else if (--aside < MOST_ASIDE) stepAside?.();
    }
  }

  return {
    ask(job, asks) {
      const before = last;
      return new Promise((resolve, reject) => {
        last = new Promise<void>((passOn) => {
          before.then(() => carryOut(job, asks, passOn).finally(passOn)).then(resolve, reject);
        });
      });
    },
    stop: processes.stop,
  };
}

/** The processes of a decoder, as many as are at work, and one that is there for the next file. */
function createProcesses(fileMs: number) {
  const working = new Set<DecoderProcess>();
  let resting: DecoderProcess | null = null;
  let calledOff: Cancel | null = null;
  let stopped = false;

  function endResting(): void {
    resting?.end();
    resting = null;
  }
  function endAll(): void {
    endResting();
    for (const decoder of working) decoder.end();
  }
  process.once("exit", endAll);

  return {
    /** @throws {Unreadable} while the gateway is stopping @throws {DecoderAway} */
    async take(): Promise<DecoderProcess> {
      calledOff?.();
      if (stopped) throw new Unreadable("The gateway is stopping.");
      let decoder = resting;
      resting = null;
      if (decoder === null || decoder.ended || decoder.worked >= RETIRES_AFTER_MS) {
        decoder?.end();
        decoder = await startDecoderProcess(fileMs);
        if (stopped) decoder.end();
      }
      working.add(decoder);
      return decoder;
    },
    /** @param isFull it holds on to so much memory that it is not used again */
    giveBack(decoder: DecoderProcess, isFull: boolean): void {
      working.delete(decoder);
      if (isFull || stopped || resting !== null) decoder.end();
      else resting = decoder;
      calledOff?.();
      calledOff = systemTime.after(IDLE_MS, endResting);
    },
    stop(): void {
      stopped = true;
      calledOff?.();
      process.removeListener("exit", endAll);
      endAll();
    },
  };
}
