import type { MediaKind } from "../../model/messages.ts";

/** A conversation that went right: what people said, and the answers that they got. */
export interface Story {
  title: string;
  /** Ids of the bots that are on. Empty: the bot that the file stands beside. */
  bots: string[];
  /** Settings of the bot. With several bots: settings by bot id. */
  config?: Record<string, unknown>;
  /** When the story begins, ISO 8601. */
  now?: string;
  /** Name of the person who writes. Default Ana. */
  person?: string;
  /** The group in which the story takes place. Its first member writes, unless a line names another. */
  group?: { name: string; members: string[] };
  /** Answers to the bots' requests. */
  outside: OutsideAnswers[];
  lines: StoryLine[];
}

/** The answers of one address outside. */
export interface OutsideAnswers {
  /** The beginning of the URL. */
  url: string;
  /** Default: every method. */
  method?: string;
  /** Answers in order; the last one repeats. Each is a text, `{ status, body }`, or anything else as JSON. */
  answers: unknown[];
}

/** One line of a story. */
export type StoryLine =
  /** Somebody writes. Several messages at once are sent without waiting for an answer. */
  | { who: "user"; as: string | null; says: Said[] }
  /** The owner writes by hand on the phone. */
  | { who: "owner"; text: string }
  | { who: "time"; ms: number }
  /** A reply. `sent` came from another system over HTTP and answers nobody. */
  | { who: Answerer; reply: StoryReply };

/** Who may write on the bot's side. */
export type Answerer = "bot" | "webhook" | "sent";

/** Something that a person can send. */
export type Said =
  /** `quote` is the text of the quoted message. */
  | { kind: "text"; text: string; quote: string | null }
  | { kind: "file"; file: MediaKind; caption: string; name: string }
  | { kind: "vote"; options: string[] }
  | { kind: "react"; emoji: string }
  | { kind: "edit"; text: string }
  | { kind: "location"; latitude: number; longitude: number; name: string | null; address: string | null }
  | { kind: "card"; name: string; numbers: string[] }
  /** Something that a story cannot repeat. It is recorded, and left out when the story is played. */
  | { kind: "other"; type: string };

/** What a person is shown. */
export type StoryReply =
  | { kind: "text"; text: string; quotes: boolean }
  | { kind: "poll"; question: string; options: string[]; multiple: boolean }
  | { kind: "react"; emoji: string }
  | { kind: "file"; file: MediaKind; caption: string; name: string };
