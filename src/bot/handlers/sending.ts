import { isAction, type EditDraft } from "../../model/content/drafts.ts";
import type { Incoming } from "../../model/messages.ts";
import type { Time } from "../../model/time.ts";
import { addressOf, quoteOf, readContent, readId, readText, type Wanted } from "../messages/content.ts";
import { mannered } from "../messages/manner.ts";
import { MOST_REPLIES, type Effects } from "./effects.ts";
import type { AnyContext, Content, ReceivedFile, ReplyOptions } from "../types.ts";

/** Calls of a context that send something. */
type SendingCalls = Pick<
  AnyContext,
  | "reply"
  | "image"
  | "video"
  | "audio"
  | "voice"
  | "document"
  | "sticker"
  | "poll"
  | "location"
  | "contact"
  | "react"
  | "edit"
  | "delete"
  | "forward"
  | "sendTo"
>;

/** Where a context has what only dialogues use. */
export const UNDER_NAMES = Symbol("under names");

/** What only dialogues use: a message can be known by an id before it is sent, and code that is begun later is measured. */
export interface SendsUnderNames {
  readonly [UNDER_NAMES]: {
    /** For limits on an author's work. */
    after: Time["after"];
    /** Code of the author begins now, behind an `await` of ours. */
    begins(): void;
    idOf(name: string): string;
    /** The file of an earlier message of this chat, by the message's id. @throws {TypeError} when it is not stored any more */
    fileOf(messageId: string): Promise<ReceivedFile>;
    /** What is sent meanwhile has this id. */
    under(id: string, send: () => void): void;
  };
}

/** What sending from one handler needs. */
interface SendingInput {
  /** The message that the handler was called for. */
  message: Incoming;
  effects: Effects;
  /** @throws {ContextClosedError} when nothing may be sent any more */
  open(call: string): void;
  now: () => number;
  /** Id of the reply at this position, from 0. */
  replyId(position: number): string;
}

/** The half of a context that sends. Everything is checked at the call, and put into `effects.replies`. */
export interface Sending {
  calls: SendingCalls;
  /**
   * As `ctx.reply`, for other calls that also say something.
   *
   * @param call what the handler called, for errors
   * @returns the id that the message will have
   * @throws {TypeError} when the content is none, after `ctx.next()`, and for more than {@link MOST_REPLIES} messages
   */
  answer(call: string, content: Content, options?: ReplyOptions): string;
  /** What is sent meanwhile has this id. */
  under(id: string, send: () => void): void;
}

/** Sending for one handler; nothing leaves before the message's commit. */
export function createSending({ message, effects, open, now, replyId }: SendingInput): Sending {
  let wantedId: string | null = null;

  function say(call: string, wanted: Wanted, jid: string | null): string {
    open(call);
    if (effects.passed)
      throw new TypeError(
        `ctx.${call}() after ctx.next(): a handler that passes a message on cannot answer it.`,
      );
    if (effects.replies.length >= MOST_REPLIES)
      throw new TypeError(`ctx.${call}(): a handler may send at most ${MOST_REPLIES} messages.`);
    const id = wantedId ?? replyId(effects.replies.length);
    effects.replies.push({ wanted, jid, id });
    return id;
  }

  function answer(call: string, content: Content, options: ReplyOptions = {}): string {
    open(call);
    const wanted = mannered(readContent(content, `ctx.${call}()`), options, `ctx.${call}()`, now());
    return say(call, quoting(wanted, message, options.quote, `ctx.${call}()`), null);
  }

  const calls: SendingCalls = {
    reply: (content, options) => answer("reply", content, options),
    image: (file, { caption, ...options } = {}) =>
      answer("image", { image: file, ...(caption !== undefined && { caption }) }, options),
    video: (file, { caption, ...options } = {}) =>
      answer("video", { video: file, ...(caption !== undefined && { caption }) }, options),
    audio: (file, options) => answer("audio", { audio: file }, options),
    voice: (file, options) => answer("voice", { voice: file }, options),
    document: (file, { caption, fileName, ...options } = {}) =>
      answer(
        "document",
        {
          document: file,
          ...(caption !== undefined && { caption }),
          ...(fileName !== undefined && { fileName }),
        },
        options,
      ),
    sticker: (file, options) => answer("sticker", { sticker: file }, options),
    poll: (question, options, { multiple = false, ...more } = {}) =>
      answer("poll", { poll: question, options, multiple }, more),
    location: (place, options) => answer("location", { location: place }, options),
    contact: (contacts, options) =>
      answer("contact", { contacts: "numbers" in contacts ? [contacts] : contacts }, options),
    ...actionsOn(message, now, say),
    forward(id, chat, options = {}) {
      const jid = addressOf(chat, "ctx.forward()");
      const wanted = { forward: readId(id, "ctx.forward()") };
      return say("forward", mannered(wanted, options, "ctx.forward()", now()), jid);
    },
    sendTo(chat, content, options = {}) {
      const jid = addressOf(chat, "ctx.sendTo()");
      const wanted = readContent(content, "ctx.sendTo()");
      return say("sendTo", mannered(wanted, options, "ctx.sendTo()", now()), jid);
    },
  };

  return {
    answer,
    calls,
    under(id, send) {
      wantedId = id;
      try {
        send();
      } finally {
        wantedId = null;
      }
    },
  };
}

/** What is done to messages: to the one that is answered, and to those of the bot's own. */
function actionsOn(
  { id: answered, chat, fromMe, participant }: Incoming,
  now: () => number,
  say: (call: string, wanted: Wanted, jid: null) => string,
): Pick<SendingCalls, "react" | "edit" | "delete"> {
  const own = (call: string, id: unknown): Pick<EditDraft, "target" | "at"> => ({
    target: { id: readId(id, `ctx.${call}()`), chat, fromMe: true, participant: null },
    at: now(),
  });
  return {
    react(emoji) {
      if (typeof emoji !== "string")
        throw new TypeError('ctx.react() takes an emoji, or "" to take it back.');
      const target = { id: answered, chat, fromMe, participant };
      return say("react", { draft: { kind: "reaction", emoji, target, at: now() } }, null);
    },
    edit(id, text) {
      const draft = {
        ...own("edit", id),
        kind: "edit",
        of: "text",
        text: readText(text, "ctx.edit()"),
      } as const;
      return say("edit", { draft }, null);
    },
    delete: (id) => say("delete", { draft: { ...own("delete", id), kind: "revoke" } }, null),
  };
}

function quoting(
  wanted: Wanted,
  message: Incoming,
  quote: ReplyOptions["quote"] = false,
  call: string,
): Wanted {
  if (quote === false || "forward" in wanted) return wanted;
  if (quote !== true) return { ...wanted, quoteId: readId(quote, `${call}: quote`) };
  if ("file" in wanted) return { ...wanted, quote: quoteOf(message) };
  return isAction(wanted.draft) ? wanted : { draft: { ...wanted.draft, quote: quoteOf(message) } };
}
