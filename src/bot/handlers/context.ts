import type { Logger } from "../../log.ts";
import type { Incoming } from "../../model/messages.ts";
import type { AnyContext, BotStore, Message } from "../types.ts";
import type { ContextInput } from "./context-input.ts";
import { CALLS, ContextParts } from "./context-parts.ts";
import type { Effects } from "./effects.ts";
import { UNDER_NAMES, type SendsUnderNames } from "./sending.ts";

/** A context while its handler may use it, and what the handler has asked for so far. */
interface OpenContext {
  ctx: AnyContext;
  effects: Effects;
  /** From now on everything that changes or sends throws. `abort`: work that is under way is told to stop as well. */
  close(why: string, abort: boolean): void;
}

/** Where a context keeps what it is made of; what is made from a context with `Object.create` finds it there. */
const PARTS = Symbol("parts");

/** A context as authors have it. Its calls stand by themselves, also when they are taken out of it. */
class HandlerContext implements Own {
  readonly [PARTS]: ContextParts;
  readonly text: string;
  readonly texts: number;
  readonly match: unknown;
  readonly config: AnyContext["config"];
  readonly vars: AnyContext["vars"] = {};
  readonly now: () => number;
  readonly number: string;
  readonly from: AnyContext["from"];
  readonly chat: AnyContext["chat"];
  readonly timer: AnyContext["timer"];
  readonly idempotencyKey: AnyContext["idempotencyKey"];

  constructor(parts: ContextParts) {
    const { stored, match, config, now, services } = parts.input;
    const { message, ownNumber, together } = stored;
    this[PARTS] = parts;
    this.text = message.text;
    this.texts = together?.length ?? 1;
    this.match = match;
    this.config = config;
    this.now = now;
    this.number = ownNumber;
    this.from = { name: message.pushName, number: message.number, lid: message.lid, id: message.sender };
    this.chat = { id: message.chatKey, kind: message.chatKind };
    this.timer = timerOf(message);
    this.idempotencyKey = services.idempotencyKey;
  }

  get message(): Message {
    return this[PARTS].input.view();
  }
  get session(): unknown {
    return this[PARTS].session;
  }
  set session(value) {
    this[PARTS].session = value;
  }
  get log(): Logger {
    return this[PARTS].log;
  }
  get signal(): AbortSignal {
    return this[PARTS].signals.handler();
  }
  get locale(): string {
    return this[PARTS].locale;
  }
  get store(): BotStore {
    return this[PARTS].store;
  }
  get [UNDER_NAMES](): SendsUnderNames[typeof UNDER_NAMES] {
    return this[PARTS].underNames;
  }
}

/** All that a context has, but for its calls: a name that is missing in both does not compile. */
type Own = Omit<AnyContext & SendsUnderNames, (typeof CALLS)[keyof typeof CALLS][number]>;

for (const [group, names] of Object.entries(CALLS))
  for (const name of names)
    Object.defineProperty(HandlerContext.prototype, name, {
      enumerable: true,
      get(this: HandlerContext) {
        return this[PARTS].calls(group as never)[name as never];
      },
    });

/** Opens what one handler works with. */
export function openContext(input: ContextInput): OpenContext {
  const parts = new ContextParts(input);
  return {
    ctx: new HandlerContext(parts) as unknown as AnyContext & SendsUnderNames,
    effects: parts.effects,
    close: (why, abort) => parts.close(why, abort),
  };
}

function timerOf({ timer }: Incoming): AnyContext["timer"] {
  return timer === undefined ? null : { key: timer.key, id: timer.id ?? null, data: timer.data };
}
