import type { ChildProcess } from "node:child_process";
import { systemTime } from "../../model/time.ts";
import { spawnDecoder } from "./entry.ts";
import { createTimeLimit } from "./limits.ts";
import type { DecoderAnswer, Question } from "./protocol.ts";

/** What a stranger's file holds cannot be read, or not within the limits; the message says which, fit for the customer. */
export class Unreadable extends Error {
  /** It is not that the file is broken: reading it takes more than any file may. */
  readonly exceeded: boolean;
  constructor(why: string, { exceeded = false } = {}) {
    super(why);
    this.name = "Unreadable";
    this.exceeded = exceeded;
  }
}

/** There is no process to read files with; it is not the file's fault. */
export class DecoderAway extends Error {}

/** A process that reads files, one after the other. */
export interface DecoderProcess {
  /** @throws {Unreadable} when it ends, or has to be ended, before it has answered */
  ask(question: Question): Promise<DecoderAnswer>;
  /** Kills it. */
  end(): void;
  readonly ended: boolean;
  /** Milliseconds that it has spent on questions. */
  readonly worked: number;
}

/** For the process to be there: a busy machine, not a file, makes it slow. */
const START_MS = 60_000;
const ASKED_EVERY_MS = 200;

const notThere = (): Error => new DecoderAway("The process for reading files did not start.");

/** Whether the gateway waits for what it says before it ends. Bun has no such switch, and the gateway ends itself all the same. */
function hold({ channel }: ChildProcess, yes: boolean): void {
  if (typeof channel?.ref === "function") channel[yes ? "ref" : "unref"]();
}

/**
 * @param fileMs for one file
 * @throws {DecoderAway} when it does not start
 */
export async function startDecoderProcess(fileMs: number): Promise<DecoderProcess> {
  const child = spawnDecoder();
  let waiting: { resolve(answer: DecoderAnswer): void; reject(error: Error): void } | null = null;
  let ended = false;
  let worked = 0;

  function end(): void {
    ended = true;
    child.kill("SIGKILL");
  }
  function gone(): void {
    ended = true;
    waiting?.reject(
      new Unreadable("reading it takes more memory than is allowed for a file", { exceeded: true }),
    );
  }
  const next = (): Promise<DecoderAnswer> =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
    });

  child.on("message", (answer: DecoderAnswer) => waiting?.resolve(answer));
  child.once("error", gone).once("exit", gone);
  // The gateway may end while there is nothing but this.
  child.unref();
  hold(child, false);
  await systemTime.deadline(START_MS, next(), notThere).catch(() => {
    end();
    throw notThere();
  });

  return {
    end,
    get ended() {
      return ended;
    },
    get worked() {
      return worked;
    },
    async ask(question) {
      const begun = systemTime.monotonic();
      const isOver = createTimeLimit(child.pid, fileMs);
      const cancel = systemTime.every(ASKED_EVERY_MS, () => {
        if (!isOver()) return;
        waiting?.reject(new Unreadable(`reading it took longer than ${fileMs / 1000} s`, { exceeded: true }));
        end();
      });
      const answer = next();
      hold(child, true);
      child.send(question, (error) => error && gone());
      try {
        return await answer;
      } finally {
        cancel();
        hold(child, false);
        worked += systemTime.monotonic() - begun;
      }
    },
  };
}
