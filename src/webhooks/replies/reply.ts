import { textOfAnswer, type AnswerText } from "./answer-text.ts";
import type { ContactDraft, LocationDraft } from "../../model/content/drafts.ts";
import { tooMuchIn } from "../../model/content/json-shape.ts";
import { readContacts, readPlace } from "../../model/content/shared.ts";
import { isFlag, isObject, textOf } from "../fields.ts";
import { asNumberedText } from "./numbered-text.ts";
import { asMedia, type MediaReply } from "./reply-media.ts";
import { mannerIn, type ReplyManner } from "./reply-manner.ts";
import { asPoll, type PollReply } from "./reply-poll.ts";

const MOST_REPLIES = 10;
const LONGEST_TEXT = 65_536;
const MOST_LEVELS = 64;
const TOO_DEEP = `the answer is nested deeper than ${MOST_LEVELS} levels`;
const LONGEST_HOLD_SECONDS = 7 * 24 * 3600;
/** What n8n answers when a workflow was set to answer at once. */
const N8N_ACKNOWLEDGEMENT = "Workflow was started";

/** A text that the webhook wants sent; `quoted`: as an answer to the message that the event is about. */
export interface TextReply {
  kind: "text";
  text: string;
  quoted: boolean;
}

/** A place or people that the webhook wants sent. */
export interface SharedReply {
  kind: "shared";
  draft: LocationDraft | ContactDraft;
  quoted: boolean;
}

/** One thing that the webhook wants sent. */
export type WebhookReply = (TextReply | PollReply | SharedReply | MediaReply) & {
  /** Missing: nothing is said of that. */
  manner?: ReplyManner;
};

/** What a webhook's answer means. */
export interface ParsedReply {
  /** False when something was said that Parley cannot read; silence is understood. */
  understood: boolean;
  /** In order, at most 10. */
  replies: WebhookReply[];
  /** What was not understood or may not be sent, for people. Holds no text of the answer. */
  ignored: string[];
  /** Seconds that the webhook keeps the chat, or null. */
  hold: number | null;
}

/**
 * Reads the body of a 2xx answer. What is not JSON is never a reply: frameworks like to answer `OK`.
 *
 * @param body as received; a byte order mark and white space around it do not count
 * @param type the answer's `Content-Type`, for its charset; null: UTF-8
 */
export function parseReply(body: Uint8Array, type: string | null = null): ParsedReply {
  return parseAnswer(textOfAnswer(body, type));
}

/** The same, of a body whose text was found already. */
export function parseAnswer(said: AnswerText): ParsedReply {
  if ("problem" in said) return notUnderstood(said.problem);
  const text = said.text.trim();
  if (text === "") return silence();
  if (isTooDeep(text)) return notUnderstood(TOO_DEEP);
  const value = jsonIn(text);
  if (value === undefined) return notUnderstood("the answer is not JSON");
  if (typeof value !== "string") return readAnswer(value);
  return isTooDeep(value) ? notUnderstood(TOO_DEEP) : readAnswer(unwrapped(value));
}

const notUnderstood = (why: string): ParsedReply => ({ ...silence(), understood: false, ignored: [why] });

const isTooDeep = (text: string): boolean => tooMuchIn(text, { levels: MOST_LEVELS }) !== null;

/**
 * What was turned into JSON twice, as workflow tools do. Digits stay a text: who answers `"5"` means to say 5, and a bare
 * number is no reply.
 */
function unwrapped(text: string): unknown {
  const value = jsonIn(text);
  return value === undefined || typeof value === "number" ? text : value;
}

/** Undefined when it is none. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function silence(): ParsedReply {
  return { understood: true, replies: [], ignored: [], hold: null };
}

function readAnswer(value: unknown): ParsedReply {
  const parsed = silence();
  if (value === null || value === false) return parsed;
  if (isObject(value)) {
    if (Object.keys(value).length === 0 || isAcknowledgement(value)) return parsed;
    if (Array.isArray(value.replies)) readHold(value, parsed);
  }
  const list = listOf(value);
  if (list === null) readOne(value, "answer", parsed);
  else readList(list, parsed);
  const said = parsed.replies.length > 0 || parsed.hold !== null;
  parsed.understood = said || parsed.ignored.length === 0;
  return parsed;
}

function listOf(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value;
  return isObject(value) && Array.isArray(value.replies) ? value.replies : null;
}

function readList(list: unknown[], parsed: ParsedReply): void {
  list.forEach((item, index) => {
    const name = `replies[${index}]`;
    if (index >= MOST_REPLIES) parsed.ignored.push(`${name}: at most ${MOST_REPLIES} replies are sent`);
    else if (Array.isArray(item)) parsed.ignored.push(`${name}: lists cannot be nested`);
    else readOne(item, name, parsed);
  });
}

/** One reply. The order of the questions is part of the contract: a poll has a name, media may have a text. */
function readOne(value: unknown, name: string, parsed: ParsedReply): void {
  if (value === null || value === false) return;
  if (typeof value === "string") return addText(value, false, name, parsed);
  if (!isObject(value)) {
    parsed.ignored.push(`${name}: a bare ${typeof value} is not a reply`);
    return;
  }
  if (Object.keys(value).length === 0) return;
  // Also within a list: workflow tools wrap a single answer in one.
  readHold(value, parsed);
  const { manner, ignored, problem } = mannerIn(value, name);
  parsed.ignored.push(...(problem === null ? ignored : [problem]));
  if (problem !== null) return;
  const before = parsed.replies.length;
  readContent(value, name, parsed);
  const added = parsed.replies[before];
  if (added !== undefined && Object.keys(manner).length > 0) added.manner = manner;
}

function readContent(value: Record<string, unknown>, name: string, parsed: ParsedReply): void {
  const poll = asPoll(value);
  if (poll !== null) return addPoll(poll, name, parsed);
  const shared = sharedIn(value);
  if (shared !== null) return addShared(shared, isFlag(value.quoted), name, parsed);
  const media = asMedia(value, name);
  if (media !== null) return addMedia(media, parsed);
  const text = asNumberedText(value) ?? textOf(value);
  if (text !== null) addText(text, isFlag(value.quoted), name, parsed);
  else if (value.hold === undefined)
    parsed.ignored.push(`${name}: unknown shape (fields ${fieldNames(value)})`);
}

function addText(text: string, quoted: boolean, name: string, parsed: ParsedReply): void {
  // NUL is nothing to read, and half a surrogate pair is nothing that WhatsApp takes.
  if (text.replaceAll("\0", "").trim() === "") return;
  if (text.length > LONGEST_TEXT)
    parsed.ignored.push(`${name}: the text is longer than ${LONGEST_TEXT} characters`);
  else parsed.replies.push({ kind: "text", text: text.toWellFormed(), quoted });
}

function addPoll(read: NonNullable<ReturnType<typeof asPoll>>, name: string, parsed: ParsedReply): void {
  if ("problem" in read) parsed.ignored.push(`${name}: ${read.problem}`);
  else parsed.replies.push(read.poll);
}

/** `{latitude, longitude, …}` or `{contacts}`; null when it is neither. */
function sharedIn(
  value: Record<string, unknown>,
): { draft: SharedReply["draft"] } | { problem: string } | null {
  if (value.latitude !== undefined && value.longitude !== undefined) return readPlace(value);
  return Array.isArray(value.contacts) ? readContacts(value) : null;
}

function addShared(
  read: NonNullable<ReturnType<typeof sharedIn>>,
  quoted: boolean,
  name: string,
  parsed: ParsedReply,
): void {
  if ("problem" in read) parsed.ignored.push(`${name}: ${read.problem}`);
  else parsed.replies.push({ kind: "shared", draft: read.draft, quoted });
}

function addMedia(read: NonNullable<ReturnType<typeof asMedia>>, parsed: ParsedReply): void {
  if ("problem" in read) return void parsed.ignored.push(read.problem);
  parsed.ignored.push(...read.ignored);
  parsed.replies.push(read.media);
}

function readHold(value: Record<string, unknown>, parsed: ParsedReply): void {
  if (value.hold === undefined || value.hold === null || parsed.hold !== null) return;
  const seconds = typeof value.hold === "string" ? Number(value.hold.trim() || Number.NaN) : value.hold;
  if (typeof seconds === "number" && seconds >= 0 && seconds <= LONGEST_HOLD_SECONDS) parsed.hold = seconds;
  else parsed.ignored.push(`hold: must be seconds from 0 to ${LONGEST_HOLD_SECONDS}`);
}

function isAcknowledgement(value: Record<string, unknown>): boolean {
  return value.message === N8N_ACKNOWLEDGEMENT && Object.keys(value).length === 1;
}

/** Names only: what stands in the fields may be private. */
function fieldNames(value: Record<string, unknown>): string {
  return Object.keys(value)
    .slice(0, 10)
    .map((key) => key.slice(0, 40))
    .join(", ");
}
