import type { AnyContext } from "../types/context.ts";
import { FlowMistake } from "./errors.ts";
import { openJournal, type Journal } from "./journal.ts";
import type { FlowState, OpenQuestion, Sleep } from "./state.ts";

/** Why the code of a flow stands still, or how it ended. */
export type Stop =
  | {
      kind: "asking";
      key: string;
      note: string;
      /** What was answered under this key fits no more, or was given to other words. */
      wasAnswered: boolean;
      /** As the code words it now. */
      word(): Promise<OpenQuestion>;
      show(open: OpenQuestion): void;
    }
  | { kind: "sleeping"; sleep: Sleep; failedTries: number }
  /** The answer could not be used; the question is still the same. */
  | ({ kind: "misunderstood"; problem: string | null; tries: number | null; wants: Wanted } & AskedAgain)
  /** What was chosen stood there, and cannot be had any more. */
  | ({ kind: "gone"; what: string } & AskedAgain)
  /** What was done stands where the code does something else, or the code ends before it comes to where it was. */
  | { kind: "changed"; key: string }
  | { kind: "again"; input: unknown }
  /** Nothing may be done, and the code has come to where it stood still. `gone`: what was shown there and is not offered any more. */
  | { kind: "arrived"; gone: readonly string[] }
  /** Nothing may be done, and the code comes to something new before that. */
  | { kind: "ahead"; will: "does" | "waits"; key: string }
  | { kind: "ended" }
  | { kind: "threw"; error: unknown };

type Wanted = "text" | "file" | "location";

/** The question as it is worded now, and how it is shown. */
interface AskedAgain {
  open: OpenQuestion;
  show(): void;
}

/** What brings a flow further. */
export type Push =
  /** A message that may be the answer. */
  | { kind: "answer" }
  /** Its time has come. */
  | { kind: "woken" }
  /** Nothing came: the question is shown again. */
  | { kind: "asked_again" }
  /** Nothing came, and nothing may be done: how far does the code get? */
  | { kind: "foreseen" };

/** How far one run of the code has come. */
export interface Progress {
  readonly ctx: AnyContext;
  /** As it was when the run began. */
  readonly state: FlowState;
  readonly push: Push | null;
  /** False: another conversation has the chat, and a question has to wait. */
  readonly mayAsk: boolean;
  readonly journal: Journal;
  /** Steps that have been begun and have not ended, with where that was. */
  readonly stepsUnderWay: Map<string, Error>;
  /** Where it stood still the last time; null: it has not begun. */
  readonly resumeAt: string | null;
  /** Resolves when the code stands still. */
  readonly standsStill: Promise<unknown>;
  /** Whether the code is beyond what it had done before. */
  isNew(): boolean;
  beginNew(): void;
  /** Called when the code comes beyond what it had done before; not when it begins with that. */
  whenNew(tell: () => void): void;
  /** Whether the code is where it stood still; true once. */
  arrives(key: string): boolean;
  /** Called by every function of `f`, which says its name, and its key when it has one. @throws {FlowMistake} when it may not be called here */
  called(call: string, key?: string): void;
  /** The same for what may be called anywhere. @throws {FlowMistake} when it is a loop */
  counts(): void;
  /** Somebody has answered, or the time has come, for which the code had to wait once. */
  hasAnswer(): void;
  /** The code goes no further: whoever awaits it waits until it is forgotten. */
  stop(reason: Stop): Promise<never>;
  stopped(): Stop | null;
  /** Where in the author's code it was stopped; null when that is not noted. */
  stoppedAt(): Error | null;
}

/** Of one run of the code, whatever it has got: more is a loop. */
const MOST_CALLS = 10_000;
/** From one answer, or one time that was waited for, to the next: this call throws. Fewer, since nothing gives way meanwhile. */
const CALL_TOO_MANY = 1_000;

/** What a run is begun with. */
export interface RunOptions extends Pick<Progress, "push" | "mayAsk"> {
  /** Notes where in the author's code it stops, which costs more than all else of a turn. Default false. */
  notesPlace?: boolean;
}

/** A run that begins. */
export function openProgress(
  ctx: AnyContext,
  state: FlowState,
  { push, mayAsk, notesPlace = false }: RunOptions,
): Progress {
  const resumeAt = state.open?.key ?? state.sleep?.key ?? null;
  const stepsUnderWay = new Map<string, Error>();
  let isNew = resumeAt === null;
  let hasArrived = false;
  let calls = 0;
  let callsSince = 0;
  let stopped: Stop | null = null;
  let stoppedAt: Error | null = null;
  let settle: (stop: Stop) => void;
  const listeners: (() => void)[] = [];
  const becomesNew = (): void => {
    if (isNew) return;
    isNew = true;
    for (const tell of listeners) tell();
  };
  const standsStill = new Promise<Stop>((resolve) => (settle = resolve));

  function counts(): void {
    calls++;
    callsSince++;
    if (calls < MOST_CALLS && callsSince < CALL_TOO_MANY) return;
    throw new FlowMistake(
      `The flow did ${Math.min(calls, callsSince < CALL_TOO_MANY ? MOST_CALLS : CALL_TOO_MANY)} things without waiting. Ask or sleep in its loop, write \`await\` before its questions, or start over with f.again().`,
    );
  }

  return {
    ctx,
    state,
    push,
    mayAsk,
    journal: openJournal(state.entries),
    stepsUnderWay,
    resumeAt,
    standsStill,
    isNew: () => isNew,
    beginNew: becomesNew,
    whenNew: (tell) => void listeners.push(tell),
    arrives(key) {
      const isHere = resumeAt === key && !hasArrived;
      if (isHere) hasArrived = true;
      // Between an answer that is given anew and the question that was open nothing is said or done twice.
      if (isHere && state.open?.isReopened !== true) becomesNew();
      return isHere;
    },
    called(call, key) {
      if (stopped?.kind === "asking")
        throw new FlowMistake(
          `${key === undefined ? `${call}()` : `${call}(${JSON.stringify(key)})`} was called while ${JSON.stringify(stopped.key)} waits for its answer. Write \`await\` before every question and ask one at a time.`,
        );
      const [running] = stepsUnderWay;
      if (running !== undefined && call !== "f.step") throw stepNotAwaited(running);
      counts();
    },
    counts,
    hasAnswer: () => void (callsSince = 0),
    stop(reason) {
      stopped ??= reason;
      if (notesPlace) stoppedAt ??= new Error("here");
      settle(reason);
      return new Promise<never>(() => undefined);
    },
    stopped: () => stopped,
    stoppedAt: () => stoppedAt,
  };
}

/**
 * Something that a flow asked for and did not wait for.
 *
 * @param at where it asked: what is noticed later happened there
 */
export function notAwaited(what: string, at: Error | null): FlowMistake {
  const mistake = new FlowMistake(`The flow did not wait for ${what}. Write \`await\` before it.`);
  const frames = at?.stack?.slice(at.stack.indexOf("\n"));
  if (frames !== undefined) mistake.stack = `${mistake.name}: ${mistake.message}${frames}`;
  return mistake;
}

/** The same of a step under way. */
export const stepNotAwaited = ([key, at]: [string, Error]): FlowMistake =>
  notAwaited(`f.step(${JSON.stringify(key)})`, at);
