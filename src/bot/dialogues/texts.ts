import { normalise } from "../messages/normalise.ts";
import { understoodIn, wordsIn } from "./words.ts";
import type { Duration } from "../duration.ts";
import type { AnyContext } from "../types/context.ts";
import type { Idle } from "../types/dialogue.ts";

/**
 * Texts that a dialogue sends on its own: a text, or a key of `locales/*.json` that goes through `ctx.t`. Texts you leave out
 * are sent in English, Spanish, Portuguese or Indonesian, depending on `ctx.locale`.
 */
export interface DialogueTexts {
  /** After an answer that is not valid. The question follows. */
  retry?: string;
  /** After an answer that was shown but is no longer available. The question follows with today's options. */
  gone?: string;
  /** After the last try. */
  givenUp?: string;
  cancelled?: string;
  /** After a file, a location or a contact card where the question wants a text. No try is used up, and the question follows. */
  wantText?: string;
  /** The same, where the question wants a file. */
  wantFile?: string;
  /** The same, where the question wants a location. */
  wantLocation?: string;
  /** Before a question that is asked again as a reminder. Default: the question alone. */
  reminder?: string;
  /** When the dialogue expires. Default: nothing is sent. */
  expired?: string;
}

/** Options of a menu or a form. */
export interface DialogueOptions {
  texts?: DialogueTexts;
  /** Tries per question. Default 3, at most 100. */
  tries?: number;
  /** Words that end the dialogue. Default: "cancel", "stop" and the words of the chat's language. False: none. */
  cancel?: string | readonly string[] | false;
  /** Asks again after this time without an answer, once. Default: no reminder. */
  remind?: Duration;
  /** Ends the dialogue after this time without an answer. Default 24 h. */
  expire?: Duration;
  /**
   * What happens to a message that cannot be an answer. `route` (default of menus): other routes and the webhook may answer
   * it, and the question stays open. `ask_again` (default of forms): the question is asked again.
   */
  otherwise?: "ask_again" | "route";
  /** Earlier ids of this dialogue. Conversations that began under them continue here. */
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
    throw new TypeError(`${name}: \`otherwise\` must be "route" or "ask_again".`);
  if (!Number.isInteger(tries) || tries < 1 || tries > 100)
    throw new TypeError(`${name}: \`tries\` must be a whole number from 1 to 100.`);
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
      return own === null ? understoodIn(ctx.locale, "cancel").includes(text) : own.has(text);
    },
  };
}
