import { normalise } from "../normalise.ts";
import type { Duration } from "../duration.ts";
import type { AnyContext } from "../types/context.ts";
import type { Idle } from "../types/dialogue.ts";

/** What a dialogue says by itself. A text, or a key of `locales/*.json`: it goes through `ctx.t`. */
export interface DialogueTexts {
  /** After an answer that cannot be used; the question follows. */
  retry?: string;
  /** After an answer that was shown and cannot be had any more; the question follows as it is now. */
  gone?: string;
  /** After the last try. */
  givenUp?: string;
  cancelled?: string;
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
  /** Words that end it. Default "cancel" and "stop"; false: none. */
  cancel?: string | readonly string[] | false;
  /** Asks again after this time without an answer, once. */
  remind?: Duration;
  /** Ends it after this time without an answer. Default 24 h. */
  expire?: Duration;
  /** What cannot be an answer: `ask_again` (default), or `route`: other routes and the webhook may answer, the question stays open. */
  otherwise?: "ask_again" | "route";
}

/** What dialogues say when the bot gives no texts of its own. */
export const DEFAULT_TEXTS = {
  retry: "Sorry, I did not understand that.",
  gone: "Sorry, that is no longer to be had.",
  givenUp: "Let us leave it for now. Write again whenever you like.",
  cancelled: "All right, cancelled.",
} as const;

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

/** How a dialogue behaves when nobody answers, or not with an answer; options and defaults joined. */
interface DialoguePolicy {
  idle: Idle;
  tries: number;
  texts: DialogueTexts;
  routesMayAnswer: boolean;
  isAnswer(ctx: AnyContext): boolean;
  isCancel(ctx: AnyContext): boolean;
}

/** @throws {TypeError} for options that mean nothing */
export function readPolicy(name: string, options: DialogueOptions): DialoguePolicy {
  const { texts = {}, tries = DEFAULT_TRIES, cancel = ["cancel", "stop"], remind, expire } = options;
  if (!Number.isInteger(tries) || tries < 1 || tries > 100)
    throw new TypeError(`${name}: \`tries\` is a whole number from 1 to 100.`);
  const words = new Set((cancel === false ? [] : [cancel].flat()).map((word) => normalise(word)));
  return {
    idle: { ...(remind !== undefined && { remind }), ...(expire !== undefined && { expire }) },
    tries,
    texts,
    routesMayAnswer: options.otherwise === "route",
    isAnswer: (ctx) => ANSWERS.has(ctx.message.type),
    isCancel(ctx) {
      const text = words.size > 0 && ctx.message.type === "text" ? normalise(ctx.text) : null;
      return text !== null && words.has(text);
    },
  };
}
