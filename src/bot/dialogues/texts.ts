import { normalise } from "../normalise.ts";
import { understoodIn, wordsIn } from "./words.ts";
import type { Duration } from "../duration.ts";
import type { AnyContext } from "../types/context.ts";
import type { Idle } from "../types/dialogue.ts";

/**
 * What a dialogue says by itself. A text, or a key of `locales/*.json`: it goes through `ctx.t`. What is left out is said in
 * English, Spanish, Portuguese or Indonesian, as `ctx.locale` says.
 */
export interface DialogueTexts {
  /** After an answer that cannot be used; the question follows. */
  retry?: string;
  /** After an answer that was shown and cannot be had any more; the question follows as it is now. */
  gone?: string;
  /** After the last try. */
  givenUp?: string;
  cancelled?: string;
  /** After a file, a place or a contact where an answer in writing is wanted; no try is used up, and the question follows. */
  wantText?: string;
  /** The same where a file is wanted. */
  wantFile?: string;
  /** The same where a place is wanted. */
  wantLocation?: string;
  /** Before the question that is asked again; the question alone when there is none. */
  reminder?: string;
  /** When it ends because nobody went on; nothing when there is none. */
  expired?: string;
}

/** How a menu or a form behaves. */
export interface DialogueOptions {
  texts?: DialogueTexts;
  /** Tries for each question; default 3, at most 100. */
  tries?: number;
  /** Words that end it. Default "cancel", "stop" and those of the chat's language; false: none. */
  cancel?: string | readonly string[] | false;
  /** Asks again after this time without an answer, once. */
  remind?: Duration;
  /** Ends it after this time without an answer. Default 24 h. */
  expire?: Duration;
  /**
   * What cannot be an answer. `route`, the default of menus: other routes and the webhook may answer, the question stays
   * open. `ask_again`, the default of forms: it is asked again.
   */
  otherwise?: "ask_again" | "route";
  /** Earlier ids of this dialogue: conversations that were begun under them go on here. */
  was?: string | readonly string[];
}

const DEFAULT_TRIES = 3;

/** What messages can be answers: things done to a message are none, and other people's votes neither. */
const ANSWERS = new Set([
  "text",
  "image",
  "video",
  "audio",
  "voice",
  "document",
  "sticker",
  "location",
  "contact",
  "poll_vote",
]);

type SaidByItself = "retry" | "gone" | "givenUp" | "cancelled" | "wantText" | "wantFile" | "wantLocation";

/** How a dialogue behaves when nobody answers, or not with an answer; options and defaults joined. */
interface DialoguePolicy {
  idle: Idle;
  was: readonly string[];
  tries: number;
  texts: DialogueTexts;
  /** A text of the bot's own, or what dialogues say in the language of the chat. */
  say(ctx: AnyContext, what: SaidByItself): string;
  routesMayAnswer: boolean;
  isAnswer(ctx: AnyContext): boolean;
  isCancel(ctx: AnyContext): boolean;
}

/** @throws {TypeError} for options that mean nothing */
export function readPolicy(
  name: string,
  options: DialogueOptions,
  usually: NonNullable<DialogueOptions["otherwise"]>,
): DialoguePolicy {
  const {
    texts = {},
    tries = DEFAULT_TRIES,
    cancel,
    remind,
    expire,
    otherwise = usually,
    was = [],
  } = options;
  if (otherwise !== "route" && otherwise !== "ask_again")
    throw new TypeError(`${name}: \`otherwise\` is "route" or "ask_again".`);
  if (!Number.isInteger(tries) || tries < 1 || tries > 100)
    throw new TypeError(`${name}: \`tries\` is a whole number from 1 to 100.`);
  const own = cancel === undefined ? null : new Set(cancel === false ? [] : [cancel].flat().map(normalise));
  return {
    idle: { ...(remind !== undefined && { remind }), ...(expire !== undefined && { expire }) },
    was: [was].flat(),
    tries,
    texts,
    say: (ctx, what) => (texts[what] === undefined ? wordsIn(ctx.locale)[what] : ctx.t(texts[what])),
    routesMayAnswer: otherwise === "route",
    isAnswer: (ctx) => ANSWERS.has(ctx.message.type),
    isCancel(ctx) {
      const text = ctx.message.type === "text" ? normalise(ctx.text) : null;
      if (text === null) return false;
      return own === null ? understoodIn(ctx.locale, "cancel").map(normalise).includes(text) : own.has(text);
    },
  };
}
