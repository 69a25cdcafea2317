import { readNewer } from "../routes/options.ts";
import { openOwnStore } from "../sessions/own-store.ts";
import { createTimerCalls } from "../timers/timer-calls.ts";
import type { AnyContext, BotStore } from "../types.ts";
import type { Logger } from "../../log.ts";
import type { ContextInput, ContextServices } from "./context-input.ts";
import { ContextClosedError, noEffects, type Effects } from "./effects.ts";
import { createSending, UNDER_NAMES, type Sending, type SendsUnderNames } from "./sending.ts";
import { createTransitions } from "./transitions.ts";

/** Messages of a chat that one look back gives. */
const MOST_HISTORY = 200;

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

/** Texts in the chat's language. */
const speaking = (
  input: ContextInput,
  effects: Effects,
  open: (call: string) => void,
): Pick<AnyContext, "t" | "setLocale"> => ({
  t: (key, values) => input.services.translate(languagesFor(input, effects), key, values),
  setLocale(locale) {
    open("setLocale");
    if (typeof locale !== "string" || locale === "")
      throw new TypeError('ctx.setLocale() takes a language like "en".');
    effects.locale = locale;
  },
});

type UnderNames = SendsUnderNames[typeof UNDER_NAMES];

/** Calls of a context by what makes them. */
export const CALLS = {
  sending: [
    "reply",
    "image",
    "video",
    "audio",
    "voice",
    "document",
    "sticker",
    "poll",
    "location",
    "contact",
    "react",
    "edit",
    "delete",
    "forward",
    "sendTo",
  ],
  timing: ["after", "at", "cancelTimer"],
  going: ["start", "startIn", "leave", "handoff", "next"],
  reaching: ["step", "file", "fetch", "typing", "markRead", "history"],
  speaking: ["t", "setLocale"],
} as const satisfies Record<string, readonly (keyof AnyContext)[]>;

type Groups = typeof CALLS;
/** The calls of one group. */
type Group<G extends keyof Groups> = Pick<AnyContext, Groups[G][number]>;

/**
 * What one context is made of: each part when something of it is asked for. A handler that replies needs one of them, and to
 * make all for each message costs more than most handlers do.
 */
export class ContextParts {
  readonly input: ContextInput;
  readonly effects = noEffects();
  readonly #steps = { underWay: 0 };
  readonly #groups: { [G in keyof Groups]?: Group<G> } = {};
  #closed: string | null = null;
  #session: unknown;
  #signals: ReturnType<typeof createSignals> | null = null;
  #logger: Logger | null = null;
  #store: BotStore | null = null;
  #sending: Sending | null = null;
  #underNames: UnderNames | null = null;

  constructor(input: ContextInput) {
    this.input = input;
    this.#session = input.session;
  }

  /** @throws {ContextClosedError} when nothing may be changed any more */
  readonly open = (call: string): void => {
    if (this.#closed !== null) throw new ContextClosedError(call, this.#closed);
  };

  close(why: string, abort: boolean): void {
    this.#closed ??= why;
    this.#signals?.close(why, abort);
  }

  calls<G extends keyof Groups>(group: G): Group<G> {
    const made = (this.#groups[group] as Group<G> | undefined) ?? (this.#make(group) as Group<G>);
    this.#groups[group] = made as never;
    return made;
  }

  #make(group: keyof Groups): Partial<AnyContext> {
    const { input, effects, open, signals } = this;
    const { bot, services, now } = input;
    switch (group) {
      case "sending":
        return this.sending.calls;
      case "timing":
        return createTimerCalls({ bot, effects, open, now });
      case "going": {
        const { hasDialogue } = services;
        return createTransitions({ bot, effects, open, answer: this.sending.answer, hasDialogue });
      }
      case "reaching":
        return reaching({ services, signals, open, steps: this.#steps });
      default:
        return speaking(input, effects, open);
    }
  }

  get sending(): Sending {
    const { stored, now, services } = this.input;
    const { message } = stored;
    const { effects, open } = this;
    return (this.#sending ??= createSending({ message, effects, open, now, replyId: services.replyId }));
  }

  get signals(): ReturnType<typeof createSignals> {
    return (this.#signals ??= createSignals(() => this.#closed));
  }

  get underNames(): UnderNames {
    const { namedId, begins, after, file } = this.input.services;
    return (this.#underNames ??= {
      idOf: namedId,
      under: this.sending.under,
      begins,
      after,
      fileOf: async (messageId) => {
        this.open("file");
        return file(this.signals.handler(), messageId);
      },
    });
  }

  get session(): unknown {
    if (this.input.bot.session === null)
      throw new TypeError(
        "ctx.session: this bot has no `session` option. Add session: { initial: () => ({ … }) }.",
      );
    return this.#session;
  }
  set session(value) {
    this.open("session");
    this.#session = value;
  }

  get log(): Logger {
    return (this.#logger ??= this.input.log());
  }

  get locale(): string {
    return languagesFor(this.input, this.effects)[0]!;
  }

  get store(): BotStore {
    const isInStep = (): boolean => this.#steps.underWay > 0;
    return (this.#store ??= storeFor(this.input, this.effects, this.open, isInStep));
  }
}
