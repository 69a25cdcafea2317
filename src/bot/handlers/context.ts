import type { Logger } from "../../log.ts";
import type { StoredMessage } from "../../model/answerer.ts";
import type { Time } from "../../model/time.ts";
import type { PastMessage } from "../../model/past-message.ts";
import type { FetchOptions } from "./fetching.ts";
import { ContextClosedError, noEffects, type Effects } from "./effects.ts";
import { openOwnStore } from "../sessions/own-store.ts";
import { createSending, UNDER_NAMES, type SendsUnderNames } from "./sending.ts";
import { createTimerCalls } from "../timers/timer-calls.ts";
import { createTransitions } from "./transitions.ts";
import type { Incoming } from "../../model/messages.ts";
import type { StoreRows } from "../sessions/store-rows.ts";
import type { Kept } from "../types/kept.ts";
import { readNewer } from "../routes/options.ts";
import type { AnyContext, Bot, BotStore, Message, NewerOptions, ReceivedFile } from "../types.ts";

/** Messages of a chat that one look back gives. */
const MOST_HISTORY = 200;

/** What a context reaches outside of itself, each for one message. */
export interface ContextServices {
  step<T>(
    key: string,
    work: (signal: AbortSignal) => Promise<T> | T,
    signal: AbortSignal,
    options?: NewerOptions,
  ): Promise<Kept<T>>;
  idempotencyKey(key: string): string;
  /** Id of the reply to this message at this position, from 0. */
  replyId(position: number): string;
  /** Id of a message that is known by a name before it is sent. */
  namedId(name: string): string;
  /** See {@link Time}. */
  after: Time["after"];
  /** Code of the bot begins now, which was not called before. */
  begins(): void;
  /** @param messageId of an earlier message of the chat; left out: of the one that is answered */
  file(signal: AbortSignal, messageId?: string): Promise<ReceivedFile>;
  /** @param turn aborts when the handler has ended, however it did */
  fetch(address: string | URL, options: FetchOptions, turn: AbortSignal): Promise<Response>;
  /** Shows at once that somebody is writing, until the handler ends. */
  typing(): void;
  markRead(): void;
  /** The last messages of the chat, oldest first. */
  history(count: number): Promise<PastMessage[]>;
  /** Whether a bot that is on for this number has this dialogue. */
  hasDialogue(botId: string, dialogue: string): boolean;
  /** What the bot keeps for itself. */
  store: Pick<StoreRows, "stored" | "storedFrom">;
  translate(languages: readonly string[], key: string, values?: Readonly<Record<string, unknown>>): string;
}

/** What a context is made of, for one handler and one message. */
export interface ContextInput {
  bot: Pick<Bot, "id" | "was" | "locale" | "session" | "dialogues" | "routes">;
  stored: StoredMessage;
  match: unknown;
  config: Readonly<Record<string, unknown>>;
  /** A copy that the handler may change. */
  session: unknown;
  /** Language that the chat has chosen, or null. */
  locale: string | null;
  /** Called only when the handler logs. */
  log: () => Logger;
  now: () => number;
  /** The frozen message; shared by all who are asked about it. */
  view: () => Message;
  services: ContextServices;
  /** See `DialogueHost`. */
  checksFlows: boolean;
}

/** A context while its handler may use it, and what the handler has asked for so far. */
interface OpenContext {
  ctx: AnyContext;
  effects: Effects;
  /** From now on everything that changes or sends throws. `abort`: work that is under way is told to stop as well. */
  close(why: string, abort: boolean): void;
}

/** What tells work under way to stop; made when somebody asks for it. @param closed why the context is, or null */
function createSignals(closed: () => string | null) {
  let handler: AbortController | null = null;
  let requests: AbortController | null = null;
  return {
    handler(): AbortSignal {
      const why = closed();
      handler ??= new AbortController();
      if (why !== null) handler.abort(new ContextClosedError("signal", why));
      return handler.signal;
    },
    requests: (): AbortSignal => (requests ??= new AbortController()).signal,
    close(why: string, abort: boolean): void {
      if (abort) handler?.abort(new ContextClosedError("signal", why));
      // Nobody is left who could read an answer.
      requests?.abort(new ContextClosedError("fetch", why));
    },
  };
}

/** @throws {TypeError} */
function readCount(count: number): number {
  if (Number.isInteger(count) && count >= 1 && count <= MOST_HISTORY) return count;
  throw new TypeError(`ctx.history() takes a number of messages from 1 to ${MOST_HISTORY}.`);
}

/** What the handler reads and writes there becomes an effect. */
function storeFor(
  { services, stored, bot }: ContextInput,
  effects: Effects,
  open: (call: string) => void,
  isInStep: () => boolean,
): BotStore {
  const opened = openOwnStore(services.store, stored.deviceId, bot, (call) => {
    open(call.slice("ctx.".length));
    // A step that was done is not done again after a crash, and what it wrote would be lost.
    if (isInStep())
      throw new TypeError(
        `${call}() cannot be called inside a step: call it after the step, with the step's result.`,
      );
  });
  effects.store = opened.changes;
  return opened.store;
}

/** The language in force, and the one that every text is in. */
function languagesFor({ bot, config, locale }: ContextInput, effects: Effects): string[] {
  const bound = typeof config.locale === "string" ? config.locale : null;
  return [effects.locale ?? locale ?? bound ?? bot.locale, bot.locale];
}

/** Opens what one handler works with. The costly parts (signal, log, the frozen message) are made when they are asked for. */
export function openContext(input: ContextInput): OpenContext {
  const { stored, bot, view, services } = input;
  const { message } = stored;
  let closed: string | null = null;
  let logger: Logger | null = null;
  let session = input.session;
  const effects = noEffects();
  const steps = { underWay: 0 };
  let store: BotStore | null = null;

  /** @throws {ContextClosedError} when nothing may be changed any more */
  function open(call: string): void {
    if (closed !== null) throw new ContextClosedError(call, closed);
  }

  const { replyId, namedId, begins, after } = services;
  const { answer, calls, under } = createSending({ message, effects, open, now: input.now, replyId });

  const languages = (): string[] => languagesFor(input, effects);

  const signals = createSignals(() => closed);

  const ownStore = (): BotStore => (store ??= storeFor(input, effects, open, () => steps.underWay > 0));

  const ctx: AnyContext & SendsUnderNames = {
    [UNDER_NAMES]: {
      idOf: namedId,
      under,
      begins,
      after,
      async fileOf(messageId) {
        open("file");
        return services.file(signals.handler(), messageId);
      },
    },
    ...whatCame(input),
    get message() {
      return view();
    },
    get session() {
      if (bot.session === null)
        throw new TypeError(
          "ctx.session: this bot has no `session` option. Add session: { initial: () => ({ … }) }.",
        );
      return session;
    },
    set session(value) {
      open("session");
      session = value;
    },
    get log() {
      return (logger ??= input.log());
    },
    get signal() {
      return signals.handler();
    },
    get locale() {
      return languages()[0]!;
    },
    ...calls,
    ...createTimerCalls({ bot, effects, open, now: input.now }),
    ...createTransitions({ bot, effects, open, answer, hasDialogue: services.hasDialogue }),
    idempotencyKey: services.idempotencyKey,
    ...reaching({ services, signals, open, steps }),
    get store() {
      return ownStore();
    },
    t: (key, values) => services.translate(languages(), key, values),
    setLocale(locale) {
      open("setLocale");
      if (typeof locale !== "string" || locale === "")
        throw new TypeError('ctx.setLocale() takes a language like "en".');
      effects.locale = locale;
    },
  };

  return {
    ctx,
    effects,
    close(why, abort) {
      closed ??= why;
      signals.close(why, abort);
    },
  };
}

/** What a handler finds of its message, and may not change. */
function whatCame({
  stored: { message, ownNumber, together },
  match,
  config,
  now,
}: ContextInput): Pick<
  AnyContext,
  "text" | "texts" | "match" | "config" | "vars" | "now" | "number" | "from" | "chat" | "timer"
> {
  return {
    text: message.text,
    texts: together?.length ?? 1,
    match,
    config,
    vars: {},
    now,
    number: ownNumber,
    from: { name: message.pushName, number: message.number, lid: message.lid, id: message.sender },
    chat: { id: message.chatKey, kind: message.chatKind },
    timer: timerOf(message),
  };
}

/** What the calls of a context stand on that reach outside of it. */
interface Reach {
  services: ContextServices;
  signals: ReturnType<typeof createSignals>;
  open(call: string): void;
  steps: { underWay: number };
}

/** Calls that wait for something outside, or show something there. */
function reaching({
  services,
  signals,
  open,
  steps,
}: Reach): Pick<AnyContext, "step" | "file" | "fetch" | "typing" | "markRead" | "history"> {
  return {
    async step(key, work, options = {}) {
      open("step");
      if (typeof key !== "string" || key === "")
        throw new TypeError('ctx.step() needs a key: ctx.step("crm", () => …).');
      steps.underWay++;
      try {
        const result = await services.step(key, work, signals.handler(), readNewer(options, "ctx.step"));
        open("step");
        return result;
      } finally {
        steps.underWay--;
      }
    },
    async file() {
      open("file");
      return services.file(signals.handler());
    },
    async fetch(address, options = {}) {
      open("fetch");
      return services.fetch(address, options, signals.requests());
    },
    typing() {
      open("typing");
      services.typing();
    },
    markRead() {
      open("markRead");
      services.markRead();
    },
    async history(count) {
      open("history");
      return services.history(readCount(count));
    },
  };
}

function timerOf({ timer }: Incoming): AnyContext["timer"] {
  return timer === undefined ? null : { key: timer.key, id: timer.id ?? null, data: timer.data };
}
