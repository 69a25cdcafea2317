import type { Logger } from "../log.ts";
import type { Answer, StoredMessage, TrailEntry } from "../model/answerer.ts";
import type { Incoming } from "../model/messages.ts";
import type { Time } from "../model/time.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import { StorageUnavailable } from "../store/errors.ts";
import type { Statement } from "../model/statement.ts";
import { blockedFor, createStopwatch, type Blocking, type Stopwatch } from "./blocking.ts";
import { toRows, type AnswerRows, type Before, type BotMedia } from "./to-rows.ts";
import type { ContextServices } from "./context.ts";
import { fetchFor } from "./fetching.ts";
import { translate, type Locales } from "./locales.ts";
import { placeIn } from "./place.ts";
import { describeError, runHandler, type HandlerOutcome, type Limits, type Work } from "./run.ts";
import type { RunningBots } from "./running.ts";
import { scopeOf } from "./scope.ts";
import type { BotState, StoredDialogue, StoredSession } from "./state.ts";
import { openSteps, type Steps } from "./steps.ts";
import type { ActiveBot } from "./table.ts";
import type { Bot, Message, OnError, ReceivedFile } from "./types.ts";

/** Files that came with messages. */
export interface BotFiles {
  /** @throws {GatewayError} when WhatsApp does not give it */
  read(target: { deviceId: number; inboxId: number }, signal: AbortSignal): Promise<ReceivedFile>;
}

/** Says once what is missing in `locales/*.json`. */
type SayOnce = (bot: Pick<Bot, "id">, missing: { key: string; locale: string; value?: string }) => void;

/** However many texts are missing, the log has so many of them. */
const MOST_SAID = 1_000;

function createSayOnce(log: Logger): SayOnce {
  const said = new Set<string>();
  return ({ id }, { key, locale, value }) => {
    const what = [id, locale, key, value].join("|");
    if (said.has(what) || said.size >= MOST_SAID) return;
    said.add(what);
    if (value === undefined)
      log.warn({ bot: id, key, locale }, "ctx.t: locales/*.json has no such text in this language");
    else log.warn({ bot: id, key, locale, value }, "ctx.t: a text has a value that was not given");
  };
}

/** What running handlers needs. */
export interface TurnsDeps {
  state: BotState;
  media: BotMedia;
  files: BotFiles;
  /** What `ctx.fetch` asks. */
  http: Pick<SafeFetch, "request">;
  locales: () => Locales;
  config: { botTimeoutMs: number; takeoverMinutes: number };
  /** For `ctx.idempotencyKey`: the same for the same message. */
  hmac(text: string): string;
  log: Logger;
  time: Time;
  /** Aborts when the gateway waits no longer for handlers: they then reject with the signal's reason. */
  stopping?: AbortSignal;
  /** Told who runs. */
  running?: Pick<RunningBots, "begin">;
  /** Default false; see `DialogueHost`. */
  checksFlows?: boolean;
  /** Told how long handlers ran without giving way. */
  blocking: Pick<Blocking, "took">;
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
}

type Won = Extract<Answer, { kind: "answer" }>;
type Answered = Extract<HandlerOutcome, { kind: "answered" }>;

/** `statements` belong into the message's commit, whoever answers it; those of an answer stand in the answer as well. */
export type TurnResult =
  | { kind: "answered"; answer: Won; trail: TrailEntry[]; statements: Statement[] }
  /** The handler failed, and the bot does not want anybody else to be asked. */
  | { kind: "ended"; answer: Won; trail: TrailEntry[]; statements: Statement[] }
  | { kind: "passed" | "failed" | "skipped"; trail: TrailEntry[]; statements: Statement[] };

/** Runs one handler of a bot for one message, and makes of its outcome what is stored with the decision. */
export interface Turns {
  /** Rejects only when `stopping` aborts, or when the database is away. */
  run(active: ActiveBot, stored: StoredMessage, question: TurnInput): Promise<TurnResult>;
}

/** Runs handlers with what they need from the database, and turns what they want into an answer. */
export function createTurns(deps: TurnsDeps): Turns {
  const { state, config, log, time, stopping, running, blocking } = deps;
  const around = { ...deps, said: createSayOnce(log) };

  const limitsOf = ({ timeoutMs }: Bot): Limits => ({
    time,
    timeoutMs: timeoutMs ?? config.botTimeoutMs,
    ...(stopping && { stopping }),
  });

  /** Runs the handler among those who run. */
  async function watched(
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
    { bot }: ActiveBot,
    stored: StoredMessage,
    dialogue: StoredDialogue | null,
    stopwatch: Stopwatch,
  ): Promise<Before & { value: unknown }> {
    const scope = scopeOf(stored.message);
    const reads = bot.session !== null || (await state.keepsLocales(stored.deviceId, bot.id));
    const session = reads ? await state.session(stored.deviceId, bot.id, scope) : null;
    const value =
      bot.session === null ? undefined : stopwatch.during(() => sessionFor(bot.session!, session));
    return { scope, session, given: JSON.stringify(value) ?? null, dialogue, value };
  }

  async function turn(
    active: ActiveBot,
    stored: StoredMessage,
    { label, work, match, view, dialogue }: TurnInput,
    stopwatch: Stopwatch,
  ): Promise<TurnResult> {
    const { bot } = active;
    const by = `bot:${bot.id}`;
    const { deviceId, message } = stored;
    const botLog = (): Logger =>
      log.child({ bot: bot.id, route: label, device: deviceId, message: message.id });
    const limits = limitsOf(bot);
    let outcome: HandlerOutcome;
    let steps: Steps | null = null;
    let found: Before | null = null;
    let storageFailure: StorageUnavailable | null = null;
    const lost = (error: StorageUnavailable): void => void (storageFailure = error);
    try {
      const { value, ...rest } = await before(active, stored, dialogue, stopwatch);
      found = rest;
      steps = openSteps(state, bot.id, stored, (key) =>
        bot.warn(
          `ctx.step(${JSON.stringify(key)}) was called twice for one message: the second time nothing is done.`,
        ),
      );
      const input = {
        bot,
        stored,
        match,
        config: active.config,
        session: value,
        locale: found.session?.locale ?? null,
        view,
        now: time.now,
        checksFlows: deps.checksFlows ?? false,
        log: botLog,
        services: servicesFor(around, bot, stored, { steps, stopwatch, lost }),
      };
      outcome = await watched(bot, stopwatch, () => runHandler(work, bot.middleware, input, limits));
      // Not the handler's fault, and nothing that it could answer for: it is asked again when the database is back.
      if (storageFailure !== null) throw storageFailure;
      if (outcome.kind === "answered") {
        const before = found;
        const done = outcome;
        const rows = await stopwatch.during(() => toRows(deps, bot, stored, before, done));
        rows.statements.push(...steps.forget());
        return answered(by, label, rows, done, brokenIn(done, bot.file, message, botLog));
      }
    } catch (error) {
      // Nobody's answer could be kept: the message is decided anew later.
      if (error instanceof StorageUnavailable || stopping?.aborted) throw error;
      outcome = { kind: "failed", error, dropped: 0 };
    }
    if (outcome.kind === "aborted") throw stopping?.reason ?? new Error("The gateway is stopping.");
    const trail = [
      { ...report(outcome, { by, file: bot.file }, message, botLog, limits.timeoutMs), route: label },
    ];
    const statements = steps?.forget() ?? [];
    if (outcome.kind === "passed") return { kind: "passed", trail, statements };
    return failed(bot.onError, by, label, stored, trail, statements);
  }

  return {
    async run(active, stored, input) {
      const stopwatch = createStopwatch(time.monotonic);
      const result = await turn(active, stored, input, stopwatch);
      const ms = stopwatch.longestMs();
      const place = {
        bot: active.bot.id,
        route: input.label,
        device: stored.deviceId,
        message: stored.message.id,
      };
      if (blocking.took(place, ms)) noteBlocked(result.trail.at(-1), ms);
      return result;
    },
  };
}

/** A dialogue that ended because its code threw has answered all the same: the line of the decision says where. */
function brokenIn(
  { turn }: Answered,
  file: string | null,
  message: Incoming,
  botLog: () => Logger,
): string | undefined {
  const { botTurn } = turn ?? {};
  if (botTurn === undefined || botTurn.kind === "pass" || botTurn.kind === "continue") return undefined;
  const { error } = botTurn;
  if (error === undefined) return undefined;
  const err = describeError(error, message.text);
  botLog().error({ err }, "the code of a dialogue threw; it has ended");
  const place = placeIn(error instanceof Error ? error.stack : undefined, file);
  return `failed: ${place === null ? err.type : `${err.type} at ${place}`}`;
}

function noteBlocked(entry: TrailEntry | undefined, ms: number): void {
  if (entry !== undefined) entry.detail = [entry.detail, blockedFor(ms)].filter(Boolean).join("; ");
}

function answered(
  by: string,
  route: string,
  { replies, statements, chat }: AnswerRows,
  { turn }: Answered,
  failure: string | undefined,
): TurnResult {
  const said = turn === null || turn.botTurn.kind === "pass" ? undefined : turn.botTurn.note;
  const note = failure ?? said;
  const trail = [{ by, outcome: "answered", route, ...(note !== undefined && { detail: note }) }];
  const answer: Won = { kind: "answer", by, route, replies, trail, statements, chat };
  return { kind: "answered", answer, trail, statements };
}

function failed(
  onError: OnError,
  by: string,
  label: string,
  stored: StoredMessage,
  trail: TrailEntry[],
  statements: Statement[],
): TurnResult {
  if (onError === "next") return { kind: "failed", trail, statements };
  const replies =
    onError === "silent"
      ? []
      : [{ jid: stored.message.chat, draft: { kind: "text" as const, text: onError.reply } }];
  const answer: Won = { kind: "answer", by, route: label, replies, trail, statements };
  return { kind: "ended", trail, answer, statements };
}

function sessionFor(options: NonNullable<Bot["session"]>, stored: StoredSession | null): unknown {
  // A copy: an `initial` that always gives the same object must not carry one chat's session into another.
  const initial = (): unknown => structuredClone(options.initial());
  if (stored === null || stored.value === null) return initial();
  if (stored.version === options.version) return stored.value;
  return options.migrate ? options.migrate(stored.value, stored.version) : initial();
}

interface OfOneTurn {
  steps: Steps;
  stopwatch: Stopwatch;
  lost(error: StorageUnavailable): void;
}

/** What a handler reaches outside of itself; `lost` is told when it was the database that failed, whatever becomes of that. */
function servicesFor(
  { files, http, locales, hmac, said }: TurnsDeps & { said: SayOnce },
  bot: Bot,
  stored: StoredMessage,
  { steps, stopwatch, lost }: OfOneTurn,
): ContextServices {
  const { deviceId, inboxId } = stored;
  async function telling<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof StorageUnavailable) lost(error);
      throw error;
    } finally {
      stopwatch.goesOn();
    }
  }
  return {
    step: (key, work, signal) =>
      telling(steps.run(key, (inTime) => stopwatch.during(() => work(inTime)), signal)),
    idempotencyKey: (key) => hmac(`${deviceId}:${inboxId}:${bot.id}:${key}`),
    file: (signal) => telling(files.read({ deviceId, inboxId }, signal)),
    fetch: (address, options, turn) => telling(fetchFor(http, address, options, turn)),
    translate: (languages, key, values) =>
      translate(locales(), languages, key, values, (missing) => said(bot, missing)),
  };
}

/** Logs what a bot did wrong and gives the line of the decision; neither holds a word of the message. */
function report(
  outcome: Exclude<HandlerOutcome, { kind: "aborted" | "answered" }>,
  { by, file }: { by: string; file: string | null },
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
  const err = describeError(outcome.error, message.text);
  botLog().error({ err, dropped: outcome.dropped }, "the handler threw; it has said nothing");
  const place = placeIn(outcome.error instanceof Error ? outcome.error.stack : undefined, file);
  return { by, outcome: "failed", detail: place === null ? err.type : `${err.type} at ${place}` };
}
