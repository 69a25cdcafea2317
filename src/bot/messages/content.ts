import type { SentAs } from "../../model/media/media.ts";
import type { Draft, DraftQuote, Manner } from "../../model/content/drafts.ts";
import type { Incoming } from "../../model/messages.ts";
import { readContacts, readPlace } from "../../model/content/shared.ts";
import type { Content, FileSource } from "../types.ts";

/** A file that a handler wants sent: fetched and looked at once the handler has returned. */
export interface FileWanted {
  mediaType: SentAs;
  /** Its address, or its bytes. */
  url?: string;
  bytes?: Uint8Array;
  fileName?: string;
  /** Under an image or a video. */
  caption?: string;
  /** Under a document. */
  text?: string;
  voice?: boolean;
}

/** What is to be sent, as far as a handler can say it. `quoteId`: a message of the chat, looked for once the handler has returned. */
export type Wanted =
  | { draft: Draft; quoteId?: string }
  | { file: FileWanted; quote?: DraftQuote; quoteId?: string; manner?: Manner }
  /** The message with this id, handed on. */
  | { forward: string; manner?: Manner };

const LONGEST_TEXT = 65_536;
const LONGEST_QUESTION = 255;
const LONGEST_OPTION = 100;
const MOST_OPTIONS = 12;

/**
 * Reads what a handler gave to `reply` or `sendTo`.
 *
 * @param call names it in errors
 * @throws {TypeError} that says what is wrong with it
 */
export function readContent(content: Content, call: string): Wanted {
  if (typeof content === "string") return { draft: { kind: "text", text: readText(content, call) } };
  if (typeof content !== "object" || content === null)
    throw new TypeError(
      `${call} takes a text or an object like { image: "https://…" }, not ${typeof content}.`,
    );
  if ("text" in content) return readMentioning(content, call);
  if ("poll" in content) return { draft: readPoll(content.poll, content.options, content.multiple, call) };
  if ("location" in content) return { draft: checked(readPlace(content.location), call) };
  if ("contacts" in content) return { draft: checked(readContacts(content), call) };
  return { file: readFile(content, call) };
}

function checked(read: { draft: Draft } | { problem: string }, call: string): Draft {
  if ("problem" in read) throw new TypeError(`${call}: ${read.problem}`);
  return read.draft;
}

export function readText(text: unknown, call: string): string {
  if (typeof text !== "string") throw new TypeError(`${call} takes a string, not ${typeof text}.`);
  if (text.trim() === "") throw new TypeError(`${call} got a blank text; WhatsApp has no blank messages.`);
  if (text.length > LONGEST_TEXT) throw new TypeError(`${call} takes at most ${LONGEST_TEXT} characters.`);
  return text;
}

function readMentioning(content: { text: string; mentions?: readonly string[] }, call: string): Wanted {
  const text = readText(content.text, call);
  const mentions = (content.mentions ?? []).map((person) => addressOf(person, call));
  return { draft: { kind: "text", text, ...(mentions.length > 0 && { mentions }) } };
}

function readPoll(question: unknown, options: unknown, multiple: unknown, call: string): Draft {
  const name = typeof question === "string" ? question.trim() : "";
  if (name === "" || name.length > LONGEST_QUESTION)
    throw new TypeError(`${call}: a poll's question must have 1 to ${LONGEST_QUESTION} characters.`);
  const texts = Array.isArray(options) ? options.map((option) => String(option).trim()) : [];
  if (texts.length < 2 || texts.length > MOST_OPTIONS)
    throw new TypeError(
      `${call}: a poll must have 2 to ${MOST_OPTIONS} options; this one has ${texts.length}.`,
    );
  if (texts.some((text) => text === "" || text.length > LONGEST_OPTION))
    throw new TypeError(`${call}: an option of a poll must have 1 to ${LONGEST_OPTION} characters.`);
  if (new Set(texts).size < texts.length)
    throw new TypeError(`${call}: two options of the poll are the same.`);
  return { kind: "poll", name, options: texts, selectable: multiple === true ? 0 : 1 };
}

const KINDS = ["image", "video", "audio", "voice", "document", "sticker"] as const;

function readFile(content: Record<string, unknown>, call: string): FileWanted {
  const kind = KINDS.find((name) => name in content);
  if (kind === undefined)
    throw new TypeError(
      `${call} knows text, poll, location, contacts, ${KINDS.join(", ")}; this has ${Object.keys(content).join(", ") || "nothing"}.`,
    );
  const { caption, fileName } = content as { caption?: string; fileName?: string };
  const file = {
    mediaType: kind === "voice" ? "audio" : kind,
    ...readSource(content[kind] as FileSource, call),
  } as const;
  if (kind === "voice") return { ...file, voice: true };
  if (kind === "audio" || kind === "sticker") return file;
  if (kind !== "document") return { ...file, ...(caption !== undefined && { caption }) };
  return {
    ...file,
    ...(fileName !== undefined && { fileName }),
    ...(caption !== undefined && { text: caption }),
  };
}

function readSource(source: FileSource, call: string): Pick<FileWanted, "url" | "bytes" | "fileName"> {
  if (typeof source === "object" && source !== null && "bytes" in source) {
    if (!(source.bytes instanceof Uint8Array) || source.bytes.length === 0)
      throw new TypeError(`${call}: \`bytes\` must be a Buffer or Uint8Array that is not empty.`);
    return { bytes: source.bytes, ...(source.fileName !== undefined && { fileName: source.fileName }) };
  }
  const url = typeof source === "string" ? source : source?.url;
  if (typeof url !== "string" || !/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new TypeError(`${call} takes a complete http or https address, or { bytes }.`);
  return { url };
}

/**
 * @param chat digits, `…@lid`, `…@g.us`, `…@newsletter`
 * @returns WhatsApp's own form
 * @throws {TypeError}
 */
export function addressOf(chat: unknown, call: string): string {
  const text = String(chat).trim();
  if (/^[^@\s]+@(g\.us|newsletter|lid|s\.whatsapp\.net)$/.test(text)) return text;
  const digits = text.replace(/[\s+().-]/g, "");
  if (/^[1-9]\d{6,14}$/.test(digits)) return `${digits}@s.whatsapp.net`;
  throw new TypeError(
    `${call}: ${JSON.stringify(chat)} is not a destination. Use digits, …@lid, …@g.us or …@newsletter.`,
  );
}

/** Ids of messages, as WhatsApp's clients make them. */
const ID = /^[\w-]{1,64}$/;

/** @param call names it in errors @throws {TypeError} when it is no id of a message */
export function readId(id: unknown, call: string): string {
  if (typeof id === "string" && ID.test(id)) return id;
  throw new TypeError(`${call} takes the id of a message, as ctx.reply() returns it.`);
}

/** What quotes a message. */
export function quoteOf({ id, fromMe, raw, participant, sender, chat }: Incoming): DraftQuote {
  // The writer as the chat knows it: a group that is addressed by LID must be quoted by LID.
  return { id, sender: participant ?? (fromMe ? sender : chat), fromMe, raw };
}
