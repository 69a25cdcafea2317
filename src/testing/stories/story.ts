import type { MediaKind } from "../../model/messages.ts";

/** A conversation that was right: what people said, and what they were answered. */
export interface Story {
  title: string;
  /** Ids of the bots that are on; empty: the bot beside which the file stands. */
  bots: string[];
  /** Settings of the bot; by id when there are several. */
  config?: Record<string, unknown>;
  /** When it begins, ISO 8601. */
  now?: string;
  /** Name of the person who writes; default Ana. */
  person?: string;
  /** It happens in a group of these members; the first one writes unless a line names another. */
  group?: { name: string; members: string[] };
  /** What answers requests of bots. */
  outside: OutsideAnswers[];
  lines: StoryLine[];
}

/** What one address outside answers. */
export interface OutsideAnswers {
  /** Beginning of the address. */
  url: string;
  /** Default: every method. */
  method?: string;
  /** In order; the last one goes on answering. A text, `{ status, body }`, or anything else as JSON. */
  answers: unknown[];
}

/** One line of a story. */
export type StoryLine =
  /** Somebody writes; several at once are sent without waiting for an answer. */
  | { who: "user"; as: string | null; says: Said[] }
  /** The owner writes by hand, on the phone. */
  | { who: "owner"; text: string }
  | { who: "time"; ms: number }
  /** An answer; `sent` came from another system over HTTP and is nobody's answer. */
  | { who: Answerer; reply: StoryReply };

/** Who may say something at the bot's end. */
export type Answerer = "bot" | "webhook" | "sent";

/** What a person can do. */
export type Said =
  /** With the text of the message that it quotes. */
  | { kind: "text"; text: string; quote: string | null }
  | { kind: "file"; file: MediaKind; caption: string; name: string }
  | { kind: "vote"; options: string[] }
  | { kind: "react"; emoji: string }
  | { kind: "edit"; text: string }
  | { kind: "location"; latitude: number; longitude: number; name: string | null; address: string | null }
  | { kind: "card"; name: string; numbers: string[] }
  /** What a story cannot do again: it is told, and left out when the story runs. */
  | { kind: "other"; type: string };

/** What a person is shown. */
export type StoryReply =
  | { kind: "text"; text: string; quotes: boolean }
  | { kind: "poll"; question: string; options: string[]; multiple: boolean }
  | { kind: "react"; emoji: string }
  | { kind: "file"; file: MediaKind; caption: string; name: string };
