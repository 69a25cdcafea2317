import type { Logger } from "pino";
import type { Incoming } from "../model/messages.ts";
import { viewPoll } from "../model/polls.ts";
import type { Reply, StoredMessage } from "../pipeline/answer.ts";
import type { Context, Message, ReplyOptions } from "./types.ts";

const LONGEST_TEXT = 65_536;

/** Thrown by what a handler calls too late: it has returned, its time was up, or the gateway is stopping. */
export class ContextClosedError extends Error {
  constructor(call: string, why: string) {
    super(
      `ctx.${call}() was called after ${why}: nothing was sent. Await everything before the handler returns, and pass ctx.signal to what may take long.`,
    );
    this.name = "ContextClosedError";
  }
}

export interface OpenContext {
  ctx: Context;
  /** What was said so far, in order. */
  replies: Reply[];
  /** `next()` was called. */
  passed: boolean;
  /** From now on `reply` and `next` throw. `abort`: work that is under way is told to stop as well. */
  close(why: string, abort: boolean): void;
}

export interface ContextInput {
  stored: StoredMessage;
  match: RegExpExecArray | null;
  config: Readonly<Record<string, unknown>>;
  /** Called only when the handler logs. */
  log: () => Logger;
  now: () => number;
  /** The frozen message; shared by all who are asked about it. */
  view: () => Message;
}

/** Opens what one handler works with. The costly parts (signal, log, the frozen message) are made when they are asked for. */
export function openContext({ stored, match, config, log, now, view }: ContextInput): OpenContext {
  const { message } = stored;
  let closed: string | null = null;
  let controller: AbortController | null = null;
  let logger: Logger | null = null;
  const replies: Reply[] = [];

  const open: OpenContext = {
    replies,
    passed: false,
    close(why, abort) {
      closed ??= why;
      if (abort) controller?.abort(new ContextClosedError("signal", why));
    },
    ctx: {
      text: message.text,
      match,
      config,
      now,
      from: { name: message.pushName, number: message.number, lid: message.lid, id: message.sender },
      chat: { id: message.chatKey, kind: message.chatKind },
      get message() {
        return view();
      },
      get log() {
        return (logger ??= log());
      },
      get signal() {
        controller ??= new AbortController();
        if (closed !== null) controller.abort(new ContextClosedError("signal", closed));
        return controller.signal;
      },
      reply(text, options) {
        if (closed !== null) throw new ContextClosedError("reply", closed);
        if (open.passed)
          throw new TypeError("ctx.reply() after ctx.next(): who passes a message on does not answer it.");
        replies.push({ jid: message.chat, draft: draftOf(message, text, options) });
      },
      next() {
        if (closed !== null) throw new ContextClosedError("next", closed);
        open.passed = true;
      },
    },
  };
  return open;
}

function draftOf(message: Incoming, text: string, options?: ReplyOptions): Reply["draft"] {
  if (typeof text !== "string") throw new TypeError(`ctx.reply() takes a string, not ${typeof text}.`);
  if (text.trim() === "")
    throw new TypeError("ctx.reply() was given a blank text; WhatsApp has no blank messages.");
  if (text.length > LONGEST_TEXT)
    throw new TypeError(`ctx.reply() takes at most ${LONGEST_TEXT} characters.`);
  if (!options?.quote) return { kind: "text", text };
  const { id, fromMe, raw } = message;
  // The writer as the chat knows it: a group that is addressed by LID must be quoted by LID.
  const sender = message.participant ?? (fromMe ? message.sender : message.chat);
  return { kind: "text", text, quote: { id, sender, fromMe, raw } };
}

/** Makes the frozen copy when it is first asked for: a bot that tries to change it changes nothing for the next. */
export function lazyView(message: Incoming): () => Message {
  let view: Message | null = null;
  return () => {
    const { id, type, text, timestamp, quoted, mentions, location, contacts, reaction, targetId } = message;
    return (view ??= freeze(
      structuredClone({
        id,
        type,
        text,
        timestamp,
        quoted,
        mentions,
        location,
        contacts,
        reaction,
        targetId,
        poll: viewPoll(message.poll),
      }),
    ));
  };
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
