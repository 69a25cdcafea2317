import { failpoint } from "../../model/failpoint.ts";
import { LoggedError } from "../../model/errors/logged-error.ts";
import type { Time } from "../../model/time.ts";
import type { ContextInput } from "./context-input.ts";
import { openContext } from "./context.ts";
import { ContextClosedError, type Effects } from "./effects.ts";
import type { Restart } from "./restart.ts";
import type { TypingSign } from "./typing.ts";
import type { AnyContext, Dialogue, DialogueHost, Middleware, Turn } from "../types.ts";

/** How a handler ended. `dropped` counts replies that it had asked for and that are not sent. */
export type HandlerOutcome =
  | {
      kind: "answered";
      effects: Effects;
      /** As the handler left it. */
      session: unknown;
      /** What became of the dialogue that is under way, or was begun here; null: none was concerned. */
      turn: { dialogue: string; botTurn: Turn; begun: boolean } | null;
    }
  | { kind: "passed"; dropped: number }
  | { kind: "failed"; error: unknown; dropped: number }
  | { kind: "timed_out"; dropped: number }
  /** The person has written a word that is heard at once. */
  | { kind: "interrupted" }
  /** A newer text has come, which is to be answered with it. */
  | { kind: "restarted" }
  /** The gateway is stopping: the message stays undecided and is asked again at the next start. */
  | { kind: "aborted" };

/** How long a handler may take. */
export interface Limits {
  time: Pick<Time, "after" | "monotonic">;
  /** Milliseconds that one handler may take. */
  timeoutMs: number;
  /** Aborts when the gateway stops and waits no longer. */
  stopping?: AbortSignal;
  /** See `Asked.onInterrupt`. Missing: nothing cuts the handler off. */
  onInterrupt?: (came: () => void) => () => void;
  /** Cuts the handler off when it is to be begun anew. */
  restart?: Pick<Restart, "listen">;
  /** Called when a handler does not return at once. @returns called when it has ended */
  typing?: TypingSign;
}

/** What runs: a route's handler, or a turn of a dialogue. */
export type Work =
  | { handler: (ctx: AnyContext) => unknown }
  | { dialogue: string; take: (ctx: AnyContext) => Turn | Promise<Turn> };

/** Dialogues that begin one another in one turn: more is a circle. */
const MOST_BEGINNINGS = 10;

/** What a dialogue that begins is told of where it is. */
type Begun = Pick<ContextInput, "bot" | "checksFlows">;

type Done = Pick<Extract<HandlerOutcome, { kind: "answered" }>, "turn">;

/** Runs one handler with its middleware. Never throws; a handler that hangs is left behind with a closed context. */
export async function runHandler(
  work: Work,
  middleware: readonly Middleware<never, never>[],
  input: ContextInput,
  limits: Limits,
): Promise<HandlerOutcome> {
  const open = openContext(input);
  const { ctx, effects } = open;
  const dropped = (): number => effects.replies.length;
  try {
    const result = perform(work, middleware, ctx, effects, input);
    failpoint("in-handler");
    let done: Done;
    // Most handlers are synchronous: they cost neither a timer nor a turn of the event loop.
    if (!("then" in result)) done = result;
    else {
      limits.typing?.begins();
      const ended = await raceWithTime(result, limits);
      if ("cut" in ended) {
        open.close(ended.cut === "timed_out" ? `its ${limits.timeoutMs} ms were up` : CUT[ended.cut], true);
        return ended.cut === "timed_out" ? { kind: ended.cut, dropped: dropped() } : { kind: ended.cut };
      }
      done = ended.value;
    }
    if (effects.passed || done.turn?.botTurn.kind === "pass") return { kind: "passed", dropped: dropped() };
    const session = input.bot.session === null ? undefined : (ctx.session as unknown);
    return { kind: "answered", effects, session, turn: done.turn };
  } catch (error) {
    return { kind: "failed", error, dropped: dropped() };
  } finally {
    limits.typing?.ends();
    open.close("the handler had returned", false);
  }
}

/** The handler within its middleware, then the dialogues that it began. Synchronous when all of it is. */
function perform(
  work: Work,
  middleware: readonly Middleware<never, never>[],
  ctx: AnyContext,
  effects: Effects,
  input: Begun,
): Done | Promise<Done> {
  if (middleware.length === 0 && "handler" in work) {
    const result = work.handler(ctx);
    if (!isPromise(result) && effects.dialogue == null) return { turn: null };
    return Promise.resolve(result).then(() => begun(ctx, effects, null, input));
  }
  return withMiddleware(work, middleware, ctx).then((turn) => begun(ctx, effects, turn, input));
}

async function withMiddleware(
  work: Work,
  middleware: readonly Middleware<never, never>[],
  ctx: AnyContext,
): Promise<Done["turn"]> {
  let turn: Done["turn"] = null;
  const inner = async (): Promise<void> => {
    if ("handler" in work) await work.handler(ctx);
    else turn = { dialogue: work.dialogue, botTurn: await work.take(ctx), begun: false };
  };
  const run = middleware.reduceRight(
    (next: () => Promise<void>, layer) => async () => void (await layer(ctx as never, onlyOnce(next))),
    inner,
  );
  await run();
  return turn;
}

function onlyOnce(next: () => Promise<void>): () => Promise<void> {
  let called = false;
  return () => {
    if (called) throw new TypeError("One b.use() called next() twice.");
    called = true;
    return next();
  };
}

/** A dialogue that was begun asks its first question, after what was said before. */
async function begun(
  ctx: AnyContext,
  effects: Effects,
  turn: Done["turn"],
  { bot, checksFlows }: Begun,
): Promise<Done> {
  const host: DialogueHost = { knows: (other) => knows(bot, other), isRouted: () => false, checksFlows };
  let last = turn;
  for (let count = 0; effects.dialogue != null; count++) {
    if (count === MOST_BEGINNINGS)
      throw new TypeError(`More than ${MOST_BEGINNINGS} dialogues started each other in one message.`);
    const { dialogue, input } = effects.dialogue;
    effects.dialogue = undefined;
    const botTurn = await dialogue.begin(ctx, input, host);
    // A dialogue that passes at its beginning has nothing to ask.
    const asked: Turn = botTurn.kind === "pass" ? { kind: "end" } : botTurn;
    const note = notes(last, `${dialogue.id} begun`);
    last = { dialogue: dialogue.id, botTurn: { ...asked, note }, begun: true };
  }
  if (effects.dialogue === null) last = last === null ? null : { ...last, botTurn: { kind: "end" } };
  return { turn: last };
}

/** Whether the bot has this dialogue, and not another of its id. */
export const knows = (bot: Pick<ContextInput["bot"], "dialogues">, dialogue: Dialogue<never>): boolean =>
  bot.dialogues.get(dialogue?.id) === dialogue;

/** What was understood before comes first: "chose order; checkout begun". */
function notes(before: Done["turn"], note: string): string {
  const earlier = before === null || before.botTurn.kind === "pass" ? undefined : before.botTurn.note;
  return earlier === undefined ? note : `${earlier}; ${note}`;
}

type Ended<T> = { cut: "timed_out" | keyof typeof CUT } | { value: T };
const CUT = {
  aborted: "the gateway began to stop",
  interrupted: "an interrupt had come",
  restarted: "a newer text had come",
};
/** Who is about to return has nothing cut off: what people write in one breath is answered in its order. */
const INTERRUPT_AFTER_MS = 250;

function raceWithTime<T>(work: PromiseLike<T>, limits: Limits): Promise<Ended<T>> {
  return new Promise((resolve, reject) => {
    const stop = (): void => settle(() => resolve({ cut: "aborted" }));
    const cancel = limits.time.after(limits.timeoutMs, () => settle(() => resolve({ cut: "timed_out" })));
    const unlisten = listenForInterrupt(limits, () => settle(() => resolve({ cut: "interrupted" })));
    const settle = (end: () => void): void => {
      cancel();
      unlisten();
      limits.stopping?.removeEventListener("abort", stop);
      end();
    };
    if (limits.stopping?.aborted) return stop();
    limits.stopping?.addEventListener("abort", stop, { once: true });
    limits.restart?.listen(() => settle(() => resolve({ cut: "restarted" })));
    work.then(
      (value) => settle(() => resolve({ value })),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

/** @returns how to stop listening */
function listenForInterrupt({ time, onInterrupt }: Limits, cut: () => void): () => void {
  if (onInterrupt === undefined) return () => undefined;
  const began = time.monotonic();
  let cancel: (() => void) | null = null;
  const stop = onInterrupt(() => {
    cancel = time.after(Math.max(0, INTERRUPT_AFTER_MS - (time.monotonic() - began)), cut);
  });
  return () => {
    stop();
    cancel?.();
  };
}

function isPromise(value: unknown): value is PromiseLike<never> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}

const QUOTES_NOTHING = "its message is hidden: it may quote what the contact wrote";

/**
 * What may be logged of a handler's error. Message texts stand in no log, and errors like to quote their input
 * (`JSON.parse`), so the error's message is given only when it has no word of the text in it.
 */
export function describeError(error: unknown, text: string): LoggedError {
  const mayQuote = !(error instanceof ContextClosedError);
  const withheld = !(error instanceof Error) || (mayQuote && quotes(error.message, text));
  return new LoggedError(error, { message: withheld ? QUOTES_NOTHING : error.message });
}

const SHORT = 3;

/** Short words count whole ("hi" stands in "this"), longer ones anywhere, also cut off as `JSON.parse` does. */
function quotes(message: string, text: string): boolean {
  const words = wordsOf(text);
  if (words.length > 2000) return true;
  const said = wordsOf(message);
  const lower = message.toLowerCase();
  const cut = said.filter((word) => word.length > SHORT + 1);
  return words.some((word) =>
    word.length <= SHORT
      ? said.includes(word)
      : lower.includes(word) || cut.some((part) => word.startsWith(part)),
  );
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];
