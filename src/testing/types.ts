import type { Duration } from "../bot/duration.ts";
import type { MediaKind } from "../model/messages.ts";
import type { Call, Stub } from "./network.ts";
import type { DeployOptions, TestBots } from "./options.ts";

/** One message of the bot, as its chat shows it. */
export interface Reply {
  id: string;
  kind: "text" | "poll" | "reaction" | MediaKind;
  /** What a person reads: the text, a caption, a poll's question, a reaction's emoji; "" when there is nothing. */
  text: string;
  poll: { question: string; options: string[]; multiple: boolean } | null;
  file: { kind: MediaKind; name: string | null } | null;
  /** Message that the bot quotes, or reacts to. */
  about: string | null;
  /** Digits or ids of people that the text mentions. */
  mentions: string[];
}

/** What `expect` takes: the whole text, an expression, or what some fields must be. */
export type Expected = string | RegExp | ((reply: Reply) => boolean) | ExpectedFields;

/** What some fields of a reply must be; what is not named may be anything. */
export interface ExpectedFields {
  kind?: Reply["kind"];
  text?: string | RegExp;
  /** A poll's options, in order. */
  options?: readonly string[];
}

/** Who was asked about a message, and what came of it. */
export interface Decision {
  /** Id of the message. */
  message: string;
  /** `bot:<id>`, `webhook`, or null when nobody answered. */
  by: string | null;
  /** `keyword:menu`, `form:lead`, `timer:…`, … */
  route: string | null;
  /** What kept the bots from being asked. */
  guard: string | null;
  trail: { by: string; outcome: string; detail?: string }[];
}

/** A message with more than a text. */
export interface UserMessage {
  text?: string;
  /** Id of a message that it quotes, as `Reply.id`. */
  quote?: string;
  /** Digits of people whom it mentions. */
  mentions?: string[];
  /** Seconds by which it comes late. */
  late?: number;
}

/** A file that a person sends. Bytes and type that are left out are made up by its kind. */
export interface SentFile {
  caption?: string;
  bytes?: Uint8Array;
  fileName?: string;
  mimetype?: string;
}

/** One person in one chat with the bot. */
export interface Conversation {
  /** Writes, and resolves when the bot has answered, or has decided not to. */
  user(message: string | UserMessage): Promise<void>;
  /** Several texts in a row, without waiting for an answer in between. */
  burst(texts: readonly string[]): Promise<void>;
  /** Answers the last poll with these options; none takes the vote back. */
  vote(...labels: string[]): Promise<void>;
  /** Sends a file. */
  media(kind: MediaKind, file?: SentFile): Promise<void>;
  /** An emoji on the bot's last message; "" takes it back. */
  react(emoji: string): Promise<void>;
  /** Shares a place. */
  location(place: { latitude: number; longitude: number; name?: string; address?: string }): Promise<void>;
  /** Sends a contact card. */
  card(name: string, ...numbers: string[]): Promise<void>;
  /** Changes the last message. */
  edit(text: string): Promise<void>;
  /** The bot's owner writes here by hand, on the phone. */
  ownerTypes(text: string): Promise<void>;
  /** The next reply that was not looked at yet. Rejects when there is none, or another one. */
  expect(expected: Expected): Promise<Reply>;
  /** The next reply, which nobody asked for: the last thing that happened here was a timer. */
  expectReminder(expected?: Expected): Promise<Reply>;
  /** Rejects when there is a reply that was not looked at. */
  expectNothing(): Promise<void>;
  /**
   * No reply to the last message. @param reason what its decision must name: a guard (`takeover`), an outcome
   * (`timed_out`), a detail (`rate_limited`), or `nobody`
   */
  expectSilence(reason?: string): Promise<void>;
  /** All replies so far, seen or not. */
  replies(): readonly Reply[];
  /** `user: …` and `bot: …`, in order. */
  transcript(): string[];
  /** Replies that no `expect` has looked at. */
  unseen(): readonly Reply[];
  /** What was decided about each message here, in order. */
  decisions(): Promise<Decision[]>;
  /** What a bot remembers of this person; null when it is nothing. @param botId may be left out when there is one bot */
  session(botId?: string): Promise<unknown>;
  /** This conversation so far as a story, YAML: what people said, what they were answered, and what the network answered. */
  story(title?: string): Promise<string>;
}

/** A group with the bot; without `as`, its first member writes. */
export interface GroupChat extends Conversation {
  /** A member of the group. */
  as(name: string): Conversation;
}

/** A person's chat with the bots, and everything around it. */
export interface TestChat extends Conversation, AsyncDisposable {
  /** Another person. Who is named for the second time is the same one. */
  as(contact: string | { name?: string; number?: string; lid?: string }): Conversation;
  /** A group; its first member is the one who writes unless another is named. */
  group(name: string, members: readonly string[]): GroupChat;
  /** Runs the script for so many people side by side. */
  parallel(
    count: number,
    script: (chat: Conversation, index: number) => Promise<unknown>,
  ): Promise<Conversation[]>;
  /** Answers requests of bots to this address (its beginning, or an expression). */
  stub(url: string | URL | RegExp, answer: Stub): void;
  /** What bots asked of stubs. */
  calls(): readonly Call[];
  /** Ends the process as `kill -9` does, and starts it again on the same database. */
  kill(): Promise<void>;
  /**
   * New code under open conversations: the process ends in peace, and starts again on the same database with these bots.
   * Bots that are new are switched on. What is running stays when they cannot be used.
   *
   * @throws {TypeError} when a bot is none; {GatewayError} when a bot refuses its settings
   */
  deploy(bots: TestBots, options?: DeployOptions): Promise<void>;
  /** Lets time pass, with everything that becomes due on the way. */
  advance(duration: Duration): Promise<void>;
  /** What the clock of the test shows. */
  now(): Date;
  /** Transcripts of all chats, by address. */
  transcripts(): Record<string, string[]>;
  /** Resolves when nothing is under way anywhere. */
  settle(): Promise<void>;
  /** Ends the gateway of the test and removes its folder. */
  close(): Promise<void>;
}
