import type { Incoming, MediaKind } from "../messages.ts";

/** What someone wants to have sent. */
export type Draft = (ContentDraft | ActionDraft) & Manner;

/** A message by itself. */
export type ContentDraft = TextDraft | MediaDraft | PollDraft | LocationDraft | ContactDraft | ForwardDraft;
/** Something that is done to another message. */
export type ActionDraft = ReactionDraft | EditDraft | RevokeDraft;

/** What counts for every message, whatever it says; for what is done to another one only `notAfter`. */
export interface Manner {
  /** Unix milliseconds at which it is queued; missing: at once. */
  sendAt?: number;
  /** Unix milliseconds after which it does not leave any more; missing: as long as messages wait. */
  notAfter?: number;
  /** WhatsApp ids of the people whom the text mentions as `@digits`. */
  mentions?: string[];
  /** Mentions all members of the group that it goes to; elsewhere it means nothing. */
  mentionsAll?: true;
  /** Can be opened once: images, videos and voice notes. */
  viewOnce?: true;
  /** Seconds for which the chat shows that it is being written, before it leaves. */
  typingSeconds?: number;
  /** It is marked as forwarded: how often it has been, with this time. */
  forwarded?: number;
}

/** The message that a draft quotes: one that came in as it came, one that was sent from here as far as a quote shows it. */
export type DraftQuote = { id: string; sender: string; fromMe: boolean } & (
  | { raw: string }
  | { sent: QuotedDraft }
);

/** What a quote shows of a message that was sent. */
export interface QuotedDraft {
  kind: Exclude<ContentDraft["kind"], "forward">;
  /** Text, caption, or what a poll asks. */
  text: string;
  /** Of a poll. */
  options?: string[];
  /** Of a document. */
  fileName?: string;
}

/** A text to be sent. */
export interface TextDraft {
  kind: "text";
  text: string;
  quote?: DraftQuote;
}

/** A file that is already fetched, looked at, and encrypted on disk: a row of `media_files`. */
export interface MediaDraft {
  kind: MediaKind;
  /** Id in `media_files`. */
  file: string;
  /** Text under an image, a video or a document. */
  caption?: string;
  /** Documents only. */
  fileName?: string;
  quote?: DraftQuote;
}

/** A poll to be sent. */
export interface PollDraft {
  kind: "poll";
  name: string;
  options: string[];
  /** 1: one answer; 0: any number. */
  selectable: 0 | 1;
  quote?: DraftQuote;
}

/** A place on the map. */
export interface LocationDraft {
  kind: "location";
  /** Degrees, north is positive. */
  latitude: number;
  /** Degrees, east is positive. */
  longitude: number;
  name?: string;
  address?: string;
  quote?: DraftQuote;
}

/** Cards of people: one is a card, several are a list. */
export interface ContactDraft {
  kind: "contact";
  contacts: ContactCard[];
  quote?: DraftQuote;
}

/** Somebody to be got to know. */
export interface ContactCard {
  name: string;
  /** Phone numbers, digits with country code. */
  numbers: string[];
  organization?: string;
  email?: string;
}

/** A file that came, handed on as it is: it is stored at WhatsApp again only when WhatsApp has it no more. */
export interface ForwardDraft {
  kind: "forward";
  /** What it is. */
  of: MediaKind;
  /** Protobuf of the message that it came with, base64. */
  raw: string;
  /** The message that it came with. Missing: the draft was stored by version 0.1. */
  from?: CameAs;
  caption?: string;
  /** Documents only. */
  fileName?: string;
  quote?: DraftQuote;
}

/** By what a message that came is found, and by what the phone knows it. */
export type CameAs = Pick<Incoming, "id" | "chat" | "chatKey" | "sender" | "participant" | "fromMe">;

/** What people call it: what is handed on is what it was. */
export const kindOf = <Kind extends { kind: string } | ForwardDraft>(
  draft: Kind,
): Exclude<Kind["kind"], "forward"> | MediaKind =>
  (draft.kind === "forward" ? (draft as ForwardDraft).of : draft.kind) as MediaKind;

/** The message that something is done to. */
export interface MessageTarget {
  id: string;
  /** Address on the wire. */
  chat: string;
  fromMe: boolean;
  /** In groups, whoever wrote it; null for the number's own. */
  participant: string | null;
}

interface Action {
  target: MessageTarget;
  /** Unix milliseconds: of two of a kind to one message the later one counts. */
  at: number;
  /** Means nothing here. */
  quote?: DraftQuote;
}

/** An emoji on a message; "" takes it back. */
export interface ReactionDraft extends Action {
  kind: "reaction";
  emoji: string;
}

/** Another text for a message of one's own. */
export interface EditDraft extends Action {
  kind: "edit";
  text: string;
  /** What it was: a text, or what has a caption. */
  of: "text" | "image" | "video" | "document";
}

/** Takes a message away from everybody's phone: one's own, or in a group, as an admin, anybody's. */
export interface RevokeDraft extends Action {
  kind: "revoke";
}

/** What a draft says in words: its text, its caption, what it asks, its emoji. */
export function textOfDraft(draft: Draft): string {
  switch (draft.kind) {
    case "text":
      return draft.text;
    case "poll":
      return draft.name;
    case "reaction":
      return draft.emoji;
    case "edit":
      return draft.text;
    case "revoke":
      return "";
    case "location":
      return draft.name ?? draft.address ?? "";
    case "contact":
      return draft.contacts.map(({ name }) => name).join(", ");
    default:
      return draft.caption ?? "";
  }
}

/** Whether it does something to another message. */
export function isAction(draft: Draft): draft is ActionDraft & Manner {
  return "target" in draft;
}

/** Whether it needs a file that lies at WhatsApp. */
export function hasFile(draft: Draft): draft is MediaDraft & Manner {
  return "file" in draft;
}
