import type { Duration } from "../bot/duration.ts";
import type { MediaKind } from "../model/messages.ts";
import type { Call, Stub } from "./network/network.ts";
import type { DeployOptions, TestBots } from "./options.ts";

/** One message of the bot, as the chat shows it. */
export interface Reply {
  id: string;
  kind: "text" | "poll" | "location" | "contact" | "reaction" | "edit" | "revoke" | MediaKind;
  /** What a person reads: the text, a caption, a poll's question, a place, names of people, a reaction's emoji or an edit's new text; "" when there is nothing. */
  text: string;
  poll: { question: string; options: string[]; multiple: boolean } | null;
  file: { kind: MediaKind; name: string | null } | null;
  location: { latitude: number; longitude: number; name: string | null; address: string | null } | null;
  contacts: { name: string; numbers: string[] }[] | null;
  /** Id of the message that the bot quotes, reacts to, edits or takes back. */
  about: string | null;
  /** Digits or ids of the people that the text mentions. */
  mentions: string[];
  /** When it was to be sent. Only of a message with `sendAt`. */
  sendAt?: Date;
  /** From when on it would not have been sent any more. Only of a message with `expires`, or of a timer that has an end. */
  expires?: Date;
  /** It can be opened once. */
  viewOnce?: true;
  /** It was handed on with `ctx.forward`, and is marked as forwarded. */
  forwarded?: true;
}

/** What `expect` takes: the whole text, a regular expression, a function, or the values of some fields. */
export type Expected = string | RegExp | ((reply: Reply) => boolean) | ExpectedFields;

/** Expected values of a reply's fields. Fields that are not named may be anything. */
export interface ExpectedFields {
  kind?: Reply["kind"];
  text?: string | RegExp;
  /** A poll's options, in order. */
  options?: readonly string[];
}

/** Who was asked about a message, and the outcome. */
export interface Decision {
  /** Id of the message. */
  message: string;
  /** `bot:<id>`, `webhook`, or null when nobody answered. */
  by: string | null;
  /** `keyword:menu`, `form:lead`, `timer:…`, … */
  route: string | null;
  /** The guard that kept the bots silent. */
  guard: string | null;
  trail: { by: string; outcome: string; detail?: string }[];
}

/** A message that is more than a text. */
export interface UserMessage {
  text?: string;
  /** Id of the message that it quotes, as in `Reply.id`. */
  quote?: string;
  /** Digits of the people that it mentions. */
  mentions?: string[];
  /** How many seconds late the message arrives. */
  late?: number;
}

/** A file that a person sends. Bytes and type that you leave out are made up to fit its kind. */
export interface SentFile {
  caption?: string;
  bytes?: Uint8Array;
  fileName?: string;
  mimetype?: string;
}

/** One person in one chat with the bot. */
export interface Conversation {
  /** Sends a message. Resolves when the bot has answered, or has decided not to. */
  user(message: string | UserMessage): Promise<void>;
  /** Sends several texts in a row, without waiting for an answer in between. */
  burst(texts: readonly string[]): Promise<void>;
  /** Votes for these options in the last poll. Without options, the vote is withdrawn. */
  vote(...labels: string[]): Promise<void>;
  /** Sends a file. */
  media(kind: MediaKind, file?: SentFile): Promise<void>;
  /** Puts an emoji on the bot's last message; "" removes it. */
  react(emoji: string): Promise<void>;
  /** Shares a location. */
  location(place: { latitude: number; longitude: number; name?: string; address?: string }): Promise<void>;
  /** Sends a contact card. */
  card(name: string, ...numbers: string[]): Promise<void>;
  /** Edits the last message. */
  edit(text: string): Promise<void>;
  /** The bot's owner writes in this chat by hand, on the phone. */
  ownerTypes(text: string): Promise<void>;
  /** Returns the next reply that no `expect` has looked at. Rejects when there is none, or when it is not as expected. */
  expect(expected: Expected): Promise<Reply>;
  /** Like `expect`, for a reply that nobody asked for: the last event in this chat must be a timer. */
  expectReminder(expected?: Expected): Promise<Reply>;
  /** Rejects when there is a reply that no `expect` has looked at. */
  expectNothing(): Promise<void>;
  /**
   * Rejects when the last message got a reply. @param reason what the message's decision must name: a guard (`takeover`), an
   * outcome (`timed_out`), a detail (`rate_limited`), or `nobody`
   */
  expectSilence(reason?: string): Promise<void>;
  /** All replies so far, seen or not. */
  replies(): readonly Reply[];
  /** The chat as lines `user: …` and `bot: …`, in order. */
  transcript(): string[];
  /** Replies that no `expect` has looked at. */
  unseen(): readonly Reply[];
  /** The decisions about the messages of this chat, in order. */
  decisions(): Promise<Decision[]>;
  /** What a bot stores about this person; null when it stores nothing. @param botId optional when there is one bot */
  session(botId?: string): Promise<unknown>;
  /** Writes this conversation so far as a story in YAML: what people said, the answers they got, and the network's answers. */
  story(title?: string): Promise<string>;
}

/** A group with the bot. Without `as`, its first member writes. */
export interface GroupChat extends Conversation {
  /** Returns another member of the group. */
  as(name: string): Conversation;
}

/** A person's chat with the bots, and the gateway around it. */
export interface TestChat extends Conversation, AsyncDisposable {
  /** Returns another person. The same name again is the same person. */
  as(contact: string | { name?: string; number?: string; lid?: string }): Conversation;
  /** Returns a group. Its first member writes unless you name another. */
  group(name: string, members: readonly string[]): GroupChat;
  /** Runs the script for this many people side by side. */
  parallel(
    count: number,
    script: (chat: Conversation, index: number) => Promise<unknown>,
  ): Promise<Conversation[]>;
  /** Answers the bots' requests to this URL (its beginning, or a regular expression). */
  stub(url: string | URL | RegExp, answer: Stub): void;
  /** The requests that stubs have answered. */
  calls(): readonly Call[];
  /** Kills the process as `kill -9` does, and starts it again on the same database. */
  kill(): Promise<void>;
  /**
   * Deploys new code under open conversations: the process shuts down and starts again on the same database with these bots.
   * New bots are switched on. When the new bots cannot be used, the running ones stay.
   *
   * @throws {TypeError} when a bot is not valid; {GatewayError} when a bot refuses its settings
   */
  deploy(bots: TestBots, options?: DeployOptions): Promise<void>;
  /** Moves the clock. Everything that becomes due on the way happens on the way: timers, and replies with `sendAt`. */
  advance(duration: Duration): Promise<void>;
  /** The time on the test's clock. */
  now(): Date;
  /** Transcripts of all chats, by address. */
  transcripts(): Record<string, string[]>;
  /** Resolves when no work is left anywhere. */
  settle(): Promise<void>;
  /** Stops the test's gateway and removes its folder. */
  close(): Promise<void>;
}
