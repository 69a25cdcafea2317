import type { Logger } from "pino";
import type { Answer, StoredMessage, TrailEntry } from "../pipeline/answer.ts";
import type { Incoming } from "../model/messages.ts";
import { StorageUnavailable } from "../store/errors.ts";
import { conclude, type Before, type BotMedia } from "./conclude.ts";
import type { ContextServices } from "./context.ts";
import { translate, type Locales } from "./locales.ts";
import { describeError, runHandler, type HandlerOutcome, type Limits, type Work } from "./run.ts";
import type { RunningBots } from "./running.ts";
import { scopeOf } from "./scope.ts";
import type { BotState, StoredDialogue, StoredSession } from "./state.ts";
import type { ActiveBot } from "./table.ts";
import type { Bot, Message, OnError, ReceivedFile } from "./types.ts";

/** Files that came with messages. */
export interface BotFiles {
  /** @throws {GatewayError} when WhatsApp does not give it */
  read(target: { deviceId: number; inboxId: number }, signal: AbortSignal): Promise<ReceivedFile>;
}

export interface TurnsDeps {
  state: BotState;
  media: BotMedia;
  files: BotFiles;
  locales: () => Locales;
  config: { botTimeoutMs: number; takeoverMinutes: number };
  hmac(text: string): string;
  log: Logger;
  now: () => number;
  stopping?: AbortSignal;
  /** Told who runs. */
  running?: Pick<RunningBots, "begin">;
}

/** A handler that does not give the event loop back for longer is named: nobody else was served meanwhile. */
const BLOCKING_MS = 1_000;

/** One bot, asked about one message. */
export interface Question {
  /** Route as a decision names it. */
  label: string;
  work: Work;
  match: unknown;
  view: () => Message;
  /** The dialogue that is under way in the chat. */
  dialogue: StoredDialogue | null;
}

type Won = Extract<Answer, { kind: "answer" }>;

export type TurnResult =
  | { kind: "answered"; answer: Won; trail: TrailEntry[] }
  /** The handler failed, and the bot does not want anybody else to be asked. */
  | { kind: "ended"; answer: Won; trail: TrailEntry[] }
  | { kind: "passed" | "failed" | "skipped"; trail: TrailEntry[] };

export interface Turns {
  /** Rejects only when `stopping` aborts, or when the database is away. */
  run(active: ActiveBot, stored: StoredMessage, question: Question): Promise<TurnResult>;
}

/** Runs handlers with what they need from the database, and turns what they want into an answer. */
export function createTurns(deps: TurnsDeps): Turns {
  const { state, config, log, now, stopping, running } = deps;

  /** Runs the handler, and says so when it kept everybody else waiting. */
  async function watched(
    bot: Bot,
    botLog: () => Logger,
    run: () => Promise<HandlerOutcome>,
  ): Promise<HandlerOutcome> {
    const ended = running?.begin(bot.id);
    const began = performance.now();
    const pending = run();
    const blockedMs = Math.round(performance.now() - began);
    if (blockedMs >= BLOCKING_MS)
      botLog().warn({ blockedMs }, "the handler blocked the event loop: all numbers stood still meanwhile");
    try {
      return await pending;
    } finally {
      ended?.();
    }
  }

  async function before(
    { bot }: ActiveBot,
    stored: StoredMessage,
    dialogue: StoredDialogue | null,
  ): Promise<Before & { value: unknown }> {
    const scope = scopeOf(stored.message);
    const session = bot.session === null ? null : await state.session(stored.deviceId, bot.id, scope);
    const value = bot.session === null ? undefined : sessionFor(bot.session, session);
    return { scope, session, given: JSON.stringify(value) ?? null, dialogue, value };
  }

  return {
    async run(active, stored, { label, work, match, view, dialogue }) {
      const { bot } = active;
      const by = `bot:${bot.id}`;
      const { deviceId, message } = stored;
      const botLog = (): Logger =>
        log.child({ bot: bot.id, route: label, device: deviceId, message: message.id });
      const limits: Limits = {
        timeoutMs: bot.timeoutMs ?? config.botTimeoutMs,
        ...(stopping && { stopping }),
      };
      let outcome: HandlerOutcome;
      let steps: Steps | null = null;
      let found: Before | null = null;
      try {
        const { value, ...rest } = await before(active, stored, dialogue);
        found = rest;
        steps = openSteps(deps, bot, stored);
        const input = {
          bot,
          stored,
          match,
          config: active.config,
          session: value,
          locale: found.session?.locale ?? null,
          view,
          now,
          log: botLog,
          services: servicesFor(deps, bot, stored, steps),
        };
        outcome = await watched(bot, botLog, () => runHandler(work, bot.middleware, input, limits));
        if (outcome.kind === "answered") {
          const { replies, statements, chat } = await conclude(deps, bot, stored, found, outcome);
          if (steps.used) statements.push(state.forgetSteps(stored.inboxId));
          const note = outcome.turn?.botTurn.kind === "pass" ? undefined : outcome.turn?.botTurn.note;
          const trail = [{ by, outcome: "answered", ...(note !== undefined && { detail: note }) }];
          const answer: Won = { kind: "answer", by, route: label, replies, trail, statements, chat };
          return { kind: "answered", answer, trail };
        }
      } catch (error) {
        // Nobody's answer could be kept: the message is decided anew later.
        if (error instanceof StorageUnavailable) throw error;
        outcome = { kind: "failed", error, dropped: 0 };
      }
      if (outcome.kind === "aborted") throw stopping?.reason ?? new Error("The gateway is stopping.");
      const trail = [report(outcome, by, message, botLog, limits.timeoutMs)];
      if (outcome.kind === "passed") return { kind: "passed", trail };
      return failed(bot.onError, by, label, stored, trail);
    },
  };
}

function failed(
  onError: OnError,
  by: string,
  label: string,
  stored: StoredMessage,
  trail: TrailEntry[],
): TurnResult {
  if (onError === "next") return { kind: "failed", trail };
  const replies =
    onError === "silent"
      ? []
      : [{ jid: stored.message.chat, draft: { kind: "text" as const, text: onError.reply } }];
  return { kind: "ended", trail, answer: { kind: "answer", by, route: label, replies, trail } };
}

function sessionFor(options: NonNullable<Bot["session"]>, stored: StoredSession | null): unknown {
  if (stored === null || stored.value === null) return options.initial();
  if (stored.version === options.version) return stored.value;
  return options.migrate ? options.migrate(stored.value, stored.version) : options.initial();
}

/** Results of `ctx.step` of one message and bot, read when the first is asked for. */
interface Steps {
  used: boolean;
  run<T>(key: string, work: (signal: AbortSignal) => Promise<T> | T, signal: AbortSignal): Promise<T>;
}

function openSteps({ state }: TurnsDeps, bot: Bot, { inboxId, deviceId }: StoredMessage): Steps {
  let known: Promise<Map<string, unknown>> | null = null;
  const steps: Steps = {
    used: false,
    async run<T>(key: string, work: (signal: AbortSignal) => Promise<T> | T, signal: AbortSignal) {
      steps.used = true;
      const made = await (known ??= state.steps(inboxId, bot.id));
      if (made.has(key)) return made.get(key) as T;
      const value = await work(signal);
      // As it will be read after a crash: what JSON does not keep must not differ then.
      const kept = value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
      await state.keepStep({ inboxId, deviceId, botId: bot.id, key, value: kept });
      made.set(key, kept);
      return kept as T;
    },
  };
  return steps;
}

function servicesFor(
  { files, locales, hmac }: TurnsDeps,
  bot: Bot,
  stored: StoredMessage,
  steps: Steps,
): ContextServices {
  const { deviceId, inboxId } = stored;
  return {
    step: steps.run,
    idempotencyKey: (key) => hmac(`${deviceId}:${inboxId}:${bot.id}:${key}`),
    file: (signal) => files.read({ deviceId, inboxId }, signal),
    translate: (languages, key, values) => translate(locales(), languages, key, values),
  };
}

/** Logs what a bot did wrong and gives the line of the decision; neither holds a word of the message. */
function report(
  outcome: Exclude<HandlerOutcome, { kind: "aborted" | "answered" }>,
  by: string,
  message: Incoming,
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
  const error = describeError(outcome.error, message.text);
  botLog().error({ error, dropped: outcome.dropped }, "the handler threw; it has said nothing");
  return { by, outcome: "failed", detail: error.type };
}
