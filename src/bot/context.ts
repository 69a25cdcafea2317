import type { Logger } from "../log.ts";
import type { StoredMessage } from "../model/answerer.ts";
import { milliseconds } from "./duration.ts";
import type { FetchOptions } from "./fetching.ts";
import { ContextClosedError, noEffects, type Effects } from "./effects.ts";
import { createSending } from "./sending.ts";
import type { AnyContext, Bot, Dialogue, Message, ReceivedFile } from "./types.ts";

/** What a context reaches outside of itself, each for one message. */
export interface ContextServices {
  step<T>(key: string, work: (signal: AbortSignal) => Promise<T> | T, signal: AbortSignal): Promise<T>;
  idempotencyKey(key: string): string;
  file(signal: AbortSignal): Promise<ReceivedFile>;
  /** @param turn aborts when the handler has ended, however it did */
  fetch(address: string | URL, options: FetchOptions, turn: AbortSignal): Promise<Response>;
  translate(languages: readonly string[], key: string, values?: Readonly<Record<string, unknown>>): string;
}

/** What a context is made of, for one handler and one message. */
export interface ContextInput {
  bot: Pick<Bot, "id" | "locale" | "session" | "dialogues" | "routes">;
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

/** Opens what one handler works with. The costly parts (signal, log, the frozen message) are made when they are asked for. */
export function openContext(input: ContextInput): OpenContext {
  const { stored, bot, config, view, services } = input;
  const { message } = stored;
  let closed: string | null = null;
  let controller: AbortController | null = null;
  let asking: AbortController | null = null;
  let logger: Logger | null = null;
  let session = input.session;
  const vars: Record<string, unknown> = {};
  const effects = noEffects();

  /** @throws {ContextClosedError} when nothing may be changed any more */
  function open(call: string): void {
    if (closed !== null) throw new ContextClosedError(call, closed);
  }

  const { answer, calls } = createSending({ message, effects, open, now: input.now });

  const languages = (): string[] => {
    const bound = typeof config.locale === "string" ? config.locale : null;
    return [effects.locale ?? input.locale ?? bound ?? bot.locale, bot.locale];
  };

  function signal(): AbortSignal {
    controller ??= new AbortController();
    if (closed !== null) controller.abort(new ContextClosedError("signal", closed));
    return controller.signal;
  }

  const ctx: AnyContext = {
    text: message.text,
    match: input.match,
    config,
    vars,
    now: input.now,
    number: stored.ownNumber,
    from: { name: message.pushName, number: message.number, lid: message.lid, id: message.sender },
    chat: { id: message.chatKey, kind: message.chatKind },
    timer: message.timer ? { key: message.timer.key, data: message.timer.data } : null,
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
      return signal();
    },
    get locale() {
      return languages()[0]!;
    },
    ...calls,
    start(dialogue, ...[value]) {
      open("start");
      if (typeof dialogue?.begin !== "function")
        throw new TypeError("ctx.start() takes a dialogue, as menu(…) and form(…) make them.");
      if (bot.dialogues.get(dialogue.id) !== (dialogue as unknown))
        throw new TypeError(
          `ctx.start(): the bot does not know the dialogue "${dialogue.id}". Make it with b.menu or b.form, or hand it to b.dialogue, so that it goes on after a restart.`,
        );
      effects.dialogue = { dialogue: dialogue as Dialogue<unknown>, input: value };
    },
    leave(text) {
      open("leave");
      if (text !== undefined) answer("leave", text);
      effects.dialogue = null;
    },
    handoff({ for: duration, say: text } = {}) {
      open("handoff");
      const ms =
        duration === undefined ? null : Math.max(60_000, milliseconds(duration, "ctx.handoff({ for })"));
      if (text !== undefined) answer("handoff", text);
      effects.handoffMs = ms;
    },
    next() {
      open("next");
      effects.passed = true;
    },
    async step(key, work) {
      open("step");
      if (typeof key !== "string" || key === "")
        throw new TypeError('ctx.step() needs a key: ctx.step("crm", () => …).');
      const result = await services.step(key, work, signal());
      open("step");
      return result;
    },
    idempotencyKey: services.idempotencyKey,
    after(delay, key, data = null) {
      open("after");
      if (!bot.routes.some((route) => route.kind === "timer" && route.word === key))
        throw new TypeError(
          `ctx.after(): the bot has no timer ${JSON.stringify(key)}. Add b.timer(${JSON.stringify(key)}, (ctx) => { … }).`,
        );
      effects.timers.set(key, { dueInMs: milliseconds(delay, "ctx.after()"), data });
    },
    cancelTimer(key) {
      open("cancelTimer");
      effects.timers.set(key, null);
    },
    async file() {
      open("file");
      return services.file(signal());
    },
    async fetch(address, options = {}) {
      open("fetch");
      asking ??= new AbortController();
      return services.fetch(address, options, asking.signal);
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
      if (abort) controller?.abort(new ContextClosedError("signal", why));
      // Nobody is left who could read an answer.
      asking?.abort(new ContextClosedError("fetch", why));
    },
  };
}
