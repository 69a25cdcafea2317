import type { Logger } from "pino";
import type { Answer, Answerer, StoredMessage, TrailEntry } from "../pipeline/answer.ts";
import type { Bindings } from "./bindings.ts";
import { lazyView } from "./context.ts";
import type { RunningBots } from "./running.ts";
import { describeError, runHandler, type HandlerOutcome, type Limits } from "./run.ts";
import type { Candidate, FilterFailure } from "./table.ts";
import type { Message } from "./types.ts";

export interface BotAnswererDeps {
  /** Which bots each number has. */
  bindings: Pick<Bindings, "tableOf">;
  config: { botTimeoutMs: number };
  log: Logger;
  /** Milliseconds. */
  now: () => number;
  /** Aborts when the gateway waits no longer for handlers: `answer` then rejects with the signal's reason. */
  stopping?: AbortSignal;
  /** Told who runs. */
  running?: Pick<RunningBots, "begin">;
}

/** A handler that does not give the event loop back for longer is named: nobody else was served meanwhile. */
const BLOCKING_MS = 1_000;

/**
 * Asks the bots of a number, one after the other, until one answers. Nothing is sent in here: replies are returned and
 * become rows of the message's commit, so that a crash means being asked again.
 *
 * @returns `answer` in the pipeline's list. It rejects only when `stopping` aborts: the message is then undecided.
 */
export function createBotAnswerer(deps: BotAnswererDeps): Answerer {
  const { bindings, config, log, now, stopping, running } = deps;
  const limits: Limits = { timeoutMs: config.botTimeoutMs, ...(stopping && { stopping }) };

  async function answer(stored: StoredMessage): Promise<Answer> {
    const trail: TrailEntry[] = [];
    const out = new Set<string>();
    const view = lazyView(stored.message);
    for (const candidate of bindings.tableOf(stored.deviceId).candidates(stored.message, view)) {
      const { bot, route } = candidate;
      // A bot that failed is not asked for its other routes: what it would say now is anybody's guess.
      if (out.has(bot.id)) continue;
      const by = `bot:${bot.id}`;
      const botLog = (): Logger =>
        log.child({ bot: bot.id, device: stored.deviceId, message: stored.message.id });
      const outcome = await ask(candidate, stored, view, botLog);
      if (outcome.kind === "answered") {
        trail.push({ by, outcome: "answered" });
        const label = route.kind === "fallback" ? route.kind : `${route.kind}:${route.pattern}`;
        return { kind: "answer", by, route: label, replies: outcome.replies, trail };
      }
      if (outcome.kind === "failed" || outcome.kind === "timed_out") out.add(bot.id);
      trail.push(report(outcome, by, stored, botLog, limits.timeoutMs));
    }
    return { kind: "pass", trail };
  }

  async function ask(
    candidate: Candidate | FilterFailure,
    stored: StoredMessage,
    view: () => Message,
    botLog: () => Logger,
  ): Promise<Exclude<HandlerOutcome, { kind: "aborted" }>> {
    if ("error" in candidate) return { kind: "failed", error: candidate.error, dropped: 0 };
    const { route, match, config } = candidate;
    const ended = running?.begin(candidate.bot.id);
    const began = performance.now();
    const pending = runHandler(route.handler, { stored, match, config, view, now, log: botLog }, limits);
    const blockedMs = Math.round(performance.now() - began);
    if (blockedMs >= BLOCKING_MS)
      botLog().warn({ blockedMs }, "the handler blocked the event loop: all numbers stood still meanwhile");
    const outcome = await pending;
    ended?.();
    if (outcome.kind === "aborted") throw stopping?.reason ?? new Error("The gateway is stopping.");
    return outcome;
  }

  return { name: "bots", pausesForOwner: true, answer };
}

/** Logs what a bot did wrong and gives the line of the decision; neither holds a word of the message. */
function report(
  outcome: Exclude<HandlerOutcome, { kind: "aborted" | "answered" }>,
  by: string,
  stored: StoredMessage,
  botLog: () => Logger,
  timeoutMs: number,
): TrailEntry {
  const dropped = outcome.dropped > 0 ? `${outcome.dropped} buffered replies dropped` : undefined;
  if (outcome.kind === "passed") {
    if (dropped) botLog().warn(`the handler called next() after reply(): ${dropped}`);
    return { by, outcome: "passed", ...(dropped && { detail: dropped }) };
  }
  if (outcome.kind === "timed_out") {
    botLog().warn(
      { timeoutMs, dropped: outcome.dropped },
      "the handler did not return in time; it has said nothing",
    );
    return { by, outcome: "timed_out", detail: `no return within ${timeoutMs} ms` };
  }
  const error = describeError(outcome.error, stored.message.text);
  botLog().error({ error, dropped: outcome.dropped }, "the handler threw; it has said nothing");
  return { by, outcome: "failed", detail: error.type };
}
