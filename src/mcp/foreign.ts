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

/** Made by the gateway, or of a form that holds no sentence. */
const OF_MESSAGE = words(
  "id sender chat direction from type target_id at send_at expires_at state answered_by by edited revoked imported",
);
const OF_FILE = words("type size seconds url error");
const OF_CHAT = words("sender chat is_group unanswered unread taken_over_until bot");
const OF_LAST = words("id at direction type");
const OF_TRACE = words("id sender chat direction type outcome silence steps");
const OF_STEP = words("step at ms by outcome route detail id count commit");
const OF_RECORD = words("id sender number kind origin state history send_at edited revoked imported error");

/** Of a message that nobody else had a hand in. What it quotes is another's. */
const OWN_WORDS = words("message poll location contacts media");
/** By these a person or a program of the account wrote. Bots and webhooks may repeat what they were told. */
const OWN_HANDS = /^(?:api|api:.*|console|phone|calls)$/s;
// A vote repeats the options of a poll, which is mostly another's.
const isOwn = ({ direction, type, by = "" }: Message): boolean =>
  direction === "out" && type !== "poll_vote" && OWN_HANDS.test(by);

/** A message of a list. */
export function messageForModel(message: Message): Told {
  const { media, ...others } = message;
  const [ours, said] = split(others, OF_MESSAGE);
  // A file's address is the gateway's; its name and type are what the sender's phone says.
  const [file, saidOfFile] = split(media ?? {}, OF_FILE);
  const { texts, cut } = shortened({ ...said, ...(!isNothing(saidOfFile) && { media: saidOfFile }) });
  const [own, foreign] = isOwn(message) ? split(texts, OWN_WORDS) : [{}, texts];
  const shownFile = { ...file, ...(own["media"] as Told | undefined) };
  return { ...ours, ...own, ...(!isNothing(shownFile) && { media: shownFile }), ...cut, ...marked(foreign) };
}

/** A chat of a list: who wrote last is known, and not by which hand. */
export const chatForModel = ({ last, ...chat }: z.output<typeof listedChat>): Told => ({
  ...apart(chat, OF_CHAT),
  last: apart(last, OF_LAST),
});

/** The way of a message: all of it is the gateway's but ids, which phones choose. */
export const traceForModel = (trace: z.output<typeof traceSchema>): Told =>
  apart({ ...trace, steps: trace.steps.map((step) => apart(step, OF_STEP)) }, OF_TRACE);

/** The record of one message: people may add options to a poll. */
export const recordForModel = (record: z.output<typeof sentMessage>): Told => apart(record, OF_RECORD);

function apart(record: object, known: ReadonlySet<string>): Told {
  const [ours, said] = split(record, known);
  const { texts, cut } = shortened(said);
  return { ...ours, ...cut, ...marked(texts) };
}

/** The mark first: who reads on knows what follows. */
const marked = (foreign: Told): Told =>
  isNothing(foreign) ? {} : { untrusted: true, from_contact: foreign };

function split(record: object, known: ReadonlySet<string>): [ours: Told, others: Told] {
  const ours: Told = {};
  const others: Told = {};
  for (const [name, value] of Object.entries(record)) {
    const isOurs = isEmpty(value) || (known.has(name) && !(IDS.has(name) && !isPlainId(value)));
    (isOurs ? ours : others)[name] = value;
  }
  return [ours, others];
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === "";
const isNothing = (record: object): boolean => Object.keys(record).length === 0;

/** Chosen by the phone that writes: a sentence may stand there as well. */
const IDS = words("id target_id");
const isPlainId = (value: unknown): boolean => typeof value === "string" && /^[\w.:@-]{1,64}$/.test(value);

/** Of all texts of one record. A page of a hundred messages as long as may be would hold up everybody, and fill any model. */
const MOST_CHARACTERS = 4_096;

/** @returns the beginning of the texts, and what says that there is more */
function shortened(said: Told): { texts: Told; cut: { cut?: true } } {
  let left = MOST_CHARACTERS;
  let isCut = false;
  const shorten = (value: unknown): unknown => {
    if (typeof value === "string") {
      const kept = value.length <= left ? value : value.slice(0, left).toWellFormed();
      isCut ||= kept.length < value.length;
      left -= kept.length;
      return kept;
    }
    if (Array.isArray(value)) {
      const kept: unknown[] = [];
      for (const entry of value) if (left > 0) kept.push(shorten(entry));
      isCut ||= kept.length < value.length;
      return kept;
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shorten(inner)]));
  };
  const texts = shorten(said) as Told;
  return { texts, cut: isCut ? { cut: true } : {} };
}

function words(text: string): Set<string> {
  return new Set(text.split(" "));
}
