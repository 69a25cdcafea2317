import { ContextClosedError, openContext, type ContextInput, type OpenContext } from "./context.ts";
import { failpoint } from "../model/failpoint.ts";
import type { Reply } from "../pipeline/answer.ts";
import type { Handler } from "./types.ts";

export type HandlerOutcome =
  | { kind: "answered"; replies: Reply[] }
  | { kind: "passed"; dropped: number }
  | { kind: "failed"; error: unknown; dropped: number }
  | { kind: "timed_out"; dropped: number }
  /** The gateway is stopping: the message stays undecided and is asked again at the next start. */
  | { kind: "aborted" };

export interface Limits {
  /** Milliseconds that one handler may take. */
  timeoutMs: number;
  /** Aborts when the gateway stops and waits no longer. */
  stopping?: AbortSignal;
}

/** Runs one handler. Never throws; a handler that hangs is left behind with a closed context. */
export async function runHandler(
  handler: Handler<never, never>,
  input: ContextInput,
  limits: Limits,
): Promise<HandlerOutcome> {
  const open = openContext(input);
  try {
    const result = (handler as Handler)(open.ctx);
    failpoint("in-handler");
    // Most handlers are synchronous: they cost neither a timer nor a turn of the event loop.
    if (isPromise(result)) {
      const cut = await raceWithTime(result, limits);
      if (cut !== null) {
        open.close(
          cut === "timed_out" ? `its ${limits.timeoutMs} ms were up` : "the gateway began to stop",
          true,
        );
        return cut === "timed_out" ? { kind: cut, dropped: open.replies.length } : { kind: cut };
      }
    }
    return outcomeOf(open);
  } catch (error) {
    return { kind: "failed", error, dropped: open.replies.length };
  } finally {
    open.close("the handler had returned", false);
  }
}

function outcomeOf(open: OpenContext): HandlerOutcome {
  return open.passed
    ? { kind: "passed", dropped: open.replies.length }
    : { kind: "answered", replies: open.replies };
}

/** @returns null when the work ended in time */
function raceWithTime(work: PromiseLike<unknown>, limits: Limits): Promise<"timed_out" | "aborted" | null> {
  return new Promise((resolve, reject) => {
    const stop = (): void => settle(() => resolve("aborted"));
    const timer = setTimeout(() => settle(() => resolve("timed_out")), limits.timeoutMs);
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      limits.stopping?.removeEventListener("abort", stop);
      end();
    };
    if (limits.stopping?.aborted) return stop();
    limits.stopping?.addEventListener("abort", stop, { once: true });
    work.then(
      () => settle(() => resolve(null)),
      (error: unknown) => settle(() => reject(error)),
    );
  });
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}

const QUOTES_NOTHING = "its message is withheld: it may quote what the person wrote";

/**
 * What may be logged of a handler's error. Message texts stand in no log, and errors like to quote their input
 * (`JSON.parse`), so the error's message is given only when it has no word of the text in it.
 */
export function describeError(
  error: unknown,
  text: string,
): { type: string; message: string; stack?: string } {
  if (!(error instanceof Error)) return { type: typeof error, message: QUOTES_NOTHING };
  const type = error.name;
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  const stack = frames.slice(0, 6).join("\n");
  if (error instanceof ContextClosedError) return { type, message: error.message, stack };
  const words = text.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [];
  const lower = error.message.toLowerCase();
  const quotes = text !== "" && (words.length > 2000 || words.some((word) => lower.includes(word)));
  return { type, message: quotes ? QUOTES_NOTHING : error.message, stack };
}
