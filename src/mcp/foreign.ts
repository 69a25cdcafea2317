import type { z } from "zod";
import type { listedChat, listedMessage } from "../api/schemas/conversations.ts";
import type { sentMessage } from "../api/schemas/messages.ts";
import type { trace as traceSchema } from "../api/schemas/trace.ts";

/**
 * What contacts wrote, apart from what the gateway says. A model takes whatever it reads for words to follow, so the words of
 * strangers stand in a field of their own, and a field that nobody has thought about is theirs.
 */

/** A record whose foreign part, when it has any, stands in `from_contact`. */
type Told = Record<string, unknown>;
type Message = z.output<typeof listedMessage>;
type Chat = z.output<typeof listedChat>;

/** Made by the gateway, or of a form that holds no sentence. */
const OF_MESSAGE = words(
  "id sender chat direction from type target_id at expires_at state answered_by by edited revoked",
);
/** Also the words, of a message that nobody else had a hand in. What it quotes is another's. */
const OF_OWN_MESSAGE = new Set([...OF_MESSAGE, ...words("message poll location contacts media")]);
const OF_FILE = words("type size seconds url error");
const OF_CHAT = words("sender chat is_group last unanswered unread taken_over_until bot");
const OF_LAST = words("id at direction type");
const OF_TRACE = words("id sender chat direction type outcome silence steps");
const OF_STEP = words("step at ms by outcome route detail id count commit");
const OF_RECORD = words("id sender number kind origin state history error");
/** By these a person or a program of the account wrote. Bots and webhooks may repeat what they were told. */
const OWN_HANDS = /^(?:api|api:.*|console|phone|calls)$/s;

/** A message of a list. */
export function messageForModel(message: Message): Told {
  // A vote repeats the options of a poll, which is mostly another's.
  const isOwn =
    message.direction === "out" && message.type !== "poll_vote" && OWN_HANDS.test(message.by ?? "");
  const { media } = message;
  if (isOwn) return apart(message, OF_OWN_MESSAGE);
  if (media === undefined) return apart(message, OF_MESSAGE);
  // Its address is the gateway's; its name and type are what the sender's phone says.
  const [file, said] = split(media, OF_FILE);
  return { ...apart({ ...message, media: said }, OF_MESSAGE), media: file };
}

/** A chat of a list: who wrote last is known, and not by which hand. */
export const chatForModel = (chat: Chat): Told =>
  apart({ ...chat, last: apart(chat.last, OF_LAST) }, OF_CHAT);

/** The record of one message: people may add options to a poll. */
export const recordForModel = (record: z.output<typeof sentMessage>): Told => apart(record, OF_RECORD);

/** The way of a message: all of it is the gateway's but ids, which phones choose. */
export const traceForModel = (trace: z.output<typeof traceSchema>): Told =>
  apart({ ...trace, steps: trace.steps.map((step) => apart(step, OF_STEP)) }, OF_TRACE);

function apart(record: object, ours: ReadonlySet<string>): Told {
  const [kept, foreign] = split(record, ours);
  // The mark first: whoever reads on knows what follows.
  return Object.keys(foreign).length === 0 ? kept : { ...kept, untrusted: true, from_contact: foreign };
}

function split(record: object, ours: ReadonlySet<string>): [kept: Told, foreign: Told] {
  const kept: Told = {};
  const foreign: Told = {};
  for (const [name, value] of Object.entries(record)) {
    const isOurs = isEmpty(value) || (ours.has(name) && !(IDS.has(name) && !isPlainId(value)));
    (isOurs ? kept : foreign)[name] = value;
  }
  return [kept, foreign];
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === "";

/** Chosen by the phone that writes: a text may stand there as well. */
const IDS = words("id target_id");
const isPlainId = (value: unknown): boolean => typeof value === "string" && /^[\w.:@-]{1,64}$/.test(value);

function words(text: string): Set<string> {
  return new Set(text.split(" "));
}
