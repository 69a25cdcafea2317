import { UNTOLD } from "../flow/questions/wording.ts";
import { UNDER_NAMES, type SendsUnderNames } from "../handlers/sending.ts";
import { translate, type Locales } from "../files/locales.ts";
import type { TimerBody } from "../timers/timer-rows.ts";
import type { AnyContext, Bot, BotLog } from "../types.ts";

/** Of whom a conversation is, as far as it is stored. */
export interface Whose {
  scope: string;
  /** Of the timer that ends it; null when there is none. */
  timer: Pick<TimerBody, "chat" | "chatKind" | "sender" | "number" | "lid" | "pushName"> | null;
  locale: string | null;
}

const SILENT: BotLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** What code of a dialogue finds when it is looked at and nothing may be done: it can read, and nothing else is there. */
export function dryContext(
  bot: Pick<Bot, "locale">,
  config: Readonly<Record<string, unknown>>,
  { scope, timer, locale }: Whose,
  { locales, now }: { locales: Locales; now(): number },
): AnyContext {
  const [chat = "", writer = chat] = scope.split("|");
  const sender = timer?.sender ?? writer;
  const digits = /^(\d+)@s\.whatsapp\.net$/.exec(sender)?.[1] ?? null;
  const bound = typeof config["locale"] === "string" ? config["locale"] : null;
  const languages = [locale ?? bound ?? bot.locale, bot.locale];
  const context: Partial<AnyContext> & SendsUnderNames = {
    [UNDER_NAMES]: {
      idOf: (name) => name,
      under: () => undefined,
      begins: () => undefined,
      after: () => () => undefined,
      fileOf: () => Promise.reject(new Error("Nothing may be done.")),
    },
    from: {
      name: timer?.pushName ?? UNTOLD,
      number: timer?.number ?? digits,
      lid: timer?.lid ?? null,
      id: sender,
    },
    chat: { id: chat, kind: (timer?.chatKind ?? (chat.endsWith("@g.us") ? "group" : "dm")) as never },
    config,
    locale: languages[0]!,
    log: SILENT,
    now,
    t: (key: string, values?: Readonly<Record<string, unknown>>) =>
      translate(locales, languages, key, values),
  };
  return context as AnyContext;
}
