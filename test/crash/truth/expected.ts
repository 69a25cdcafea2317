import type { AcceptedMessage } from "../../../src/simulator/types.ts";
import { groupBy } from "../../../src/demo/judge/group-by.ts";

/** What a person sees of one message in the console; words are those of the English texts. */
export interface Seen {
  id: string;
  /** It went out. */
  out: boolean;
  /** Words of the message: text, caption, file's name, question and options, place, cards. */
  words: string[];
  /** What stands there beside words: `picture`, `sticker`, `sound`, `document`, `place`, `cards`, `poll`. */
  things: string[];
  edited: boolean;
  deleted: boolean;
  /** `👍` or `👍2`. */
  reactions: string[];
  /** Votes of each option; null: no poll of ours; unknown: one of them nobody but the gateway could read. */
  votes: number[] | null | "unknown";
  /** How far it has come; null: no ticks. */
  tick: string | null;
  /** Who wrote or answered it. */
  by: string;
  /** Unix milliseconds. */
  at: number;
}

/** What the transcript does not tell. */
export interface Known {
  /** The linked number. */
  number: string;
  /** Ids of what was sent by REST. */
  accepted: ReadonlySet<string>;
  /** `person id` of what somebody has read. */
  read: ReadonlySet<string>;
}

const SHOWN = new Set([
  "text",
  "image",
  "voice",
  "audio",
  "document",
  "sticker",
  "location",
  "contacts",
  "poll",
]);
const THING: Record<string, string> = {
  image: "picture",
  voice: "sound",
  audio: "sound",
  document: "document",
  sticker: "sticker",
  location: "place",
  contacts: "cards",
  poll: "poll",
};
const BOT_SAYS = new Set(["what would you like?", "we have tea"]);

/** What is to be seen of each message between the number and the others, by `in` or `out`, writer and id. @param all as the service took them */
export function expectedOf(all: readonly AcceptedMessage[], known: Known): Map<string, Seen> {
  const { number } = known;
  const changes = groupBy(
    all.filter(({ target }) => target !== undefined),
    ({ target }) => target!,
  );
  const seen = new Map<string, Seen>();
  for (const message of all) {
    if (!SHOWN.has(message.kind)) continue;
    const out = message.from === number;
    const about = (changes.get(message.id) ?? []).toSorted((a, b) => a.seq - b.seq);
    const edits = about.filter(({ kind, from }) => kind === "edit" && from === message.from);
    const isOwn = out && message.fromDevice !== 0;
    seen.set(keyOf(out, message.id), {
      id: message.id,
      out,
      words: wordsOf(message, edits.at(-1)?.text),
      things: THING[message.kind] === undefined ? [] : [THING[message.kind]!],
      edited: edits.length > 0,
      deleted: about.some(({ kind, from }) => kind === "revoke" && from === message.from),
      reactions: reactionsOf(about),
      votes: isOwn && message.poll ? votesOf(message.poll.options, about) : null,
      tick: isOwn ? (known.read.has(`${message.chat} ${message.id}`) ? "read" : "delivered") : null,
      by: out ? writerOf(message, known) : answererOf(message),
      at: message.at,
    });
  }
  return seen;
}

/** Tells the messages of a number apart: two writers may use one id. */
export const keyOf = (out: boolean, id: string): string => `${out ? "out" : "in"} ${id}`;

function wordsOf(
  { kind, text, poll, media, location, contacts }: AcceptedMessage,
  edited?: string,
): string[] {
  if (poll) return [poll.name, ...poll.options];
  if (location) return [location.name ?? "", location.address ?? ""].filter((word) => word !== "");
  if (contacts) return contacts.map(({ name }) => name);
  const words = edited ?? text ?? "";
  const name = kind === "document" ? [media?.fileName ?? ""] : [];
  return [...name, ...(words === "" ? [] : [words])];
}

/** Of each person the last one holds; an empty one takes it back. */
function lastOfEach<T>(about: readonly AcceptedMessage[], kind: string, of: (message: AcceptedMessage) => T) {
  return new Map(
    about.filter((message) => message.kind === kind).map((message) => [message.from, of(message)]),
  );
}

function reactionsOf(about: readonly AcceptedMessage[]): string[] {
  const each = [...lastOfEach(about, "reaction", ({ text }) => text ?? "").values()];
  const counts = groupBy(
    each.filter((emoji) => emoji !== ""),
    (emoji) => emoji,
  );
  return [...counts].map(([emoji, { length }]) => (length > 1 ? `${emoji}${length}` : emoji)).toSorted();
}

function votesOf(options: readonly string[], about: readonly AcceptedMessage[]): number[] | "unknown" {
  if (about.some(({ kind, choices }) => kind === "vote" && choices === undefined)) return "unknown";
  const each = [...lastOfEach(about, "vote", ({ choices = [] }) => choices).values()];
  return options.map((option) => each.filter((choices) => choices.includes(option)).length);
}

function writerOf({ id, fromDevice, text = "" }: AcceptedMessage, { accepted }: Known): string {
  if (fromDevice === 0) return "Phone";
  if (accepted.has(id)) return "API key First key";
  return BOT_SAYS.has(text) ? "Bot order" : "Webhook";
}

/** The bot answers orders of one person, the webhook whatever is asked; see `openSoakWorld`. */
function answererOf({ kind, text = "", chat }: AcceptedMessage): string {
  if (kind === "text" && text === "order" && !chat.includes("@")) return "Answered by: Bot order";
  return kind === "text" && text.startsWith("ask") ? "Answered by: Webhook" : "Not answered";
}
