import type { Logger } from "../../log.ts";
import type { StoredMessage } from "../../model/answerer.ts";
import type { Time } from "../../model/time.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import { createStopwatch, type Blocking, type Stopwatch } from "./blocking.ts";
import { NOBODY } from "../answerers/onlooker.ts";
import { runHandler, type HandlerOutcome, type Limits, type Work } from "./run.ts";
import type { RunningBots } from "./running.ts";
import { scopeOf } from "../sessions/scope.ts";
import { fitSession } from "../sessions/sessions.ts";
import type { BotState, StoredDialogue } from "../sessions/state.ts";
import type { Restart } from "./restart.ts";
import { openSteps, type Steps } from "./steps.ts";
import { typingFor, type ShowTyping } from "./typing.ts";
import type { ActiveBot } from "../routes/table.ts";
import type { BotMedia, NamedMessages } from "./to-drafts.ts";
import { toRows, type Before } from "./to-rows.ts";
import {
  answered,
  brokenBy,
  errorOf,
  interrupted,
  noteBlocked,
  problemOf,
  restarted,
  unanswered,
  type TurnResult,
} from "./turn-results.ts";
import { createSayOnce, gateOf, servicesFor, type ReachDeps } from "./turn-services.ts";
import type { Bot, Message } from "../types.ts";

/** What running handlers needs. */
export interface TurnsDeps extends ReachDeps {
  state: BotState;
  media: BotMedia;
  /** What they quote and hand on by its id. */
  messages: NamedMessages;
  config: { botTimeoutMs: number; takeoverMinutes: number };
  log: Logger;
  time: Time;
  /** Aborts when the gateway waits no longer for handlers: they then reject with the signal's reason. */
  stopping?: AbortSignal;
  /** Shows that somebody is writing. Default: nobody is shown. */
  typing?: ShowTyping;
  /** Told who runs. */
  running?: Pick<RunningBots, "begin">;
  /** Default false; see `DialogueHost`. */
  checksFlows?: boolean;
  /** Told how long handlers ran without giving way. */
  blocking: Pick<Blocking, "noteTime">;
}

/** One bot, asked about one message. */
export interface TurnInput {
  /** Route as a decision names it. */
  label: string;
  work: Work;
  match: unknown;
  view: () => Message;
  /** The dialogue that is under way in the chat. */
  dialogue: StoredDialogue | null;
  /** How many replies to the message there are before those of this turn. Default 0. */
  firstReply?: number;
  /** See `Asked.onInterrupt`. Missing: nothing cuts the handler off. */
  onInterrupt?: Limits["onInterrupt"];
  /** A newer text counts from the beginning, and not only while a step says so. */
  isRestarted?: boolean;
  /** Default: nobody looks for newer texts. */
  restart?: Restart;
}

/** Runs one handler of a bot for one message, and makes of its outcome what is stored with the decision. */
export interface BotTurns {
  /** Rejects only when `stopping` aborts, or when the database is away. */
  run(active: ActiveBot, stored: StoredMessage, question: TurnInput): Promise<TurnResult>;
}

/** Runs handlers with what they need from the database, and turns what they want into an answer. */
export function createTurns(deps: TurnsDeps): BotTurns {
  const { time, blocking } = deps;
  const around: Around = { ...deps, said: createSayOnce(deps.log) };
  return {
    async run(active, stored, input) {
      const stopwatch = createStopwatch(time.monotonic);
      const result = await turn(around, active, stored, input, stopwatch);
      const ms = stopwatch.longestMs();
      const place = {
        bot: active.bot.id,
        route: input.label,
        device: stored.deviceId,
        message: stored.message.id,
      };
      if (blocking.noteTime(place, ms)) noteBlocked(result.trail.at(-1), ms);
      return result;
    },
  };
}

type Around = TurnsDeps & { said: ReturnType<typeof createSayOnce> };

const limitsOf = (
  { time, config, stopping, typing }: Around,
  { timeoutMs }: Bot,
  stored: StoredMessage,
  { onInterrupt, restart }: Pick<TurnInput, "onInterrupt" | "restart">,
): Limits => ({
  time,
  timeoutMs: timeoutMs ?? config.botTimeoutMs,
  ...(stopping && { stopping }),
  ...(onInterrupt && { onInterrupt }),
  ...(restart && { restart }),
  ...(typing && { typing: typingFor(time, typing, stored) }),
});

function stepsOf({ state }: Around, bot: Bot, stored: StoredMessage, restart: Restart | undefined): Steps {
  const warn = (key: string): void =>
    bot.warn(
      `ctx.step(${JSON.stringify(key)}) was called twice for one message: the second call does nothing.`,
    );
  return openSteps(state, bot.id, stored, warn, restart?.resume);
}

/** Runs the handler among those who run. */
async function watched(
  { running }: Around,
  bot: Bot,
  stopwatch: Stopwatch,
  run: () => Promise<HandlerOutcome>,
): Promise<HandlerOutcome> {
  const ended = running?.begin(bot.id);
  try {
    return await stopwatch.during(run);
  } finally {
    ended?.();
  }
}

async function before(
  { state, log }: Around,
  { bot }: ActiveBot,
  stored: StoredMessage,
  dialogue: StoredDialogue | null,
  stopwatch: Stopwatch,
): Promise<Before & { value: unknown }> {
  const scope = scopeOf(stored.message);
  const reads = bot.session !== null || (await state.keepsLocales(stored.deviceId, bot.id));
  const session = reads ? await state.session(stored.deviceId, bot.id, scope) : null;
  const rules = bot.session;
  const fitted = rules === null ? null : await stopwatch.during(() => fitSession(rules, session));
  if (fitted?.how === "begun_anew") sayAnew(log, bot, stored, fitted.misfits);
  const value = fitted?.value;
  return { scope, session, given: JSON.stringify(value) ?? null, dialogue, value };
}

async function turn(
  around: Around,
  active: ActiveBot,
  stored: StoredMessage,
  question: TurnInput,
  stopwatch: Stopwatch,
): Promise<TurnResult> {
  const { log, stopping, onlooker = NOBODY } = around;
  const { bot } = active;
  const { label, work, match, view, dialogue, firstReply = 0, restart } = question;
  const by = `bot:${bot.id}`;
  const botLog = loggerOf(log, bot, label, stored);
  const limits = limitsOf(around, bot, stored, question);
  let outcome: HandlerOutcome;
  let steps: Steps | null = null;
  let found: Before | null = null;
  let storageFailure: StorageUnavailable | null = null;
  const lost = (error: StorageUnavailable): void => void (storageFailure = error);
  try {
    const { value, ...rest } = await before(around, active, stored, dialogue, stopwatch);
    found = rest;
    steps = stepsOf(around, bot, stored, restart);
    const { typing } = limits;
    const input = {
      bot,
      stored,
      match,
      config: active.config,
      session: value,
      locale: found.session?.locale ?? null,
      view,
      now: around.time.now,
      checksFlows: around.checksFlows ?? false,
      log: botLog,
      services: servicesFor(around, bot, stored, { steps, stopwatch, firstReply, lost, restart, typing }),
    };
    if (question.isRestarted) restart?.begin(gateOf(steps, () => true));
    outcome = await watched(around, bot, stopwatch, () => runHandler(work, bot.middleware, input, limits));
    // Not the handler's fault, and nothing that it could answer for: it is asked again when the database is back.
    if (storageFailure !== null) throw storageFailure;
    if (outcome.kind === "answered") {
      const whose = { bot, label, stored, botLog };
      return await kept(around, whose, found, outcome, { steps, stopwatch });
    }
  } catch (error) {
    // Nobody's answer could be kept: the message is decided anew later.
    if (error instanceof StorageUnavailable || stopping?.aborted) throw error;
    outcome = { kind: "failed", error, dropped: 0 };
  }
  if (outcome.kind === "interrupted") return interrupted(by, label, steps?.forget() ?? []);
  if (outcome.kind === "restarted") return restarted(by, label);
  if (outcome.kind === "aborted") throw stopping?.reason ?? new Error("The gateway is stopping.");
  if (outcome.kind !== "passed")
    onlooker.failed({ ...whoseOf(bot, label, stored), error: problemOf(outcome, limits.timeoutMs) });
  return unanswered(outcome, { by, label, bot, stored, botLog, ...limits }, steps?.forget() ?? []);
}

/** Whose turn it is, and about which message. */
const whoseOf = (bot: Bot, route: string, { message }: StoredMessage) => ({
  bot: bot.id,
  route,
  message: message.id,
});

const loggerOf =
  (log: Logger, bot: Bot, route: string, { deviceId, message }: StoredMessage) =>
  (): Logger =>
    log.child({ bot: bot.id, route, device: deviceId, message: message.id });

/** What a handler has answered, as rows for the message's commit. */
async function kept(
  around: Around,
  { bot, label, stored, botLog }: { bot: Bot; label: string; stored: StoredMessage; botLog: () => Logger },
  found: Before,
  done: Extract<HandlerOutcome, { kind: "answered" }>,
  { steps, stopwatch }: { steps: Steps; stopwatch: Stopwatch },
): Promise<TurnResult> {
  const rows = await stopwatch.during(() => toRows(around, bot, stored, found, done));
  rows.statements.push(...steps.forget());
  const error = errorOf(done);
  if (error !== undefined) (around.onlooker ?? NOBODY).failed({ ...whoseOf(bot, label, stored), error });
  const failure = error === undefined ? undefined : brokenBy(error, bot.file, stored.message, botLog);
  return answered(`bot:${bot.id}`, label, rows, done, failure);
}

/** What was kept of a chat is not handed to the bot: its owner is told. */
function sayAnew(log: Logger, { id }: Bot, { deviceId, message }: StoredMessage, misfits: readonly string[]) {
  log.warn(
    { bot: id, device: deviceId, message: message.id, misfits },
    "a stored session no longer fits the bot's code: the session starts over",
  );
}
