import type { Logger } from "../../log.ts";
import type { StoredMessage } from "../../model/answerer.ts";
import type { Time } from "../../model/time.ts";
import type { PastMessage } from "../../model/past-message.ts";
import type { FetchOptions } from "./fetching.ts";
import type { StoreRows } from "../sessions/store-rows.ts";
import type { Kept } from "../types/kept.ts";
import type { Bot, Message, NewerOptions, ReceivedFile } from "../types.ts";

/** What a context reaches outside of itself, each for one message. */
export interface ContextServices {
  step<T>(
    key: string,
    work: (signal: AbortSignal) => Promise<T> | T,
    signal: AbortSignal,
    options?: NewerOptions,
  ): Promise<Kept<T>>;
  idempotencyKey(key: string): string;
  /** Id of the reply to this message at this position, from 0. */
  replyId(position: number): string;
  /** Id of a message that is known by a name before it is sent. */
  namedId(name: string): string;
  /** See {@link Time}. */
  after: Time["after"];
  /** Code of the bot begins now, which was not called before. */
  begins(): void;
  /** @param messageId of an earlier message of the chat; left out: of the one that is answered */
  file(signal: AbortSignal, messageId?: string): Promise<ReceivedFile>;
  /** @param turn aborts when the handler has ended, however it did */
  fetch(address: string | URL, options: FetchOptions, turn: AbortSignal): Promise<Response>;
  /** Shows at once that somebody is writing, until the handler ends. */
  typing(): void;
  markRead(): void;
  /** The last messages of the chat, oldest first. */
  history(count: number): Promise<PastMessage[]>;
  /** Whether a bot that is on for this number has this dialogue. */
  hasDialogue(botId: string, dialogue: string): boolean;
  /** What the bot keeps for itself. */
  store: Pick<StoreRows, "stored" | "storedFrom">;
  translate(languages: readonly string[], key: string, values?: Readonly<Record<string, unknown>>): string;
}

/** What a context is made of, for one handler and one message. */
export interface ContextInput {
  bot: Pick<Bot, "id" | "was" | "locale" | "session" | "dialogues" | "routes">;
  stored: StoredMessage;
  match: unknown;
  config: Readonly<Record<string, unknown>>;
  /** A copy that the handler may change. */
  session: unknown;
  /** Language that the chat has chosen, or null. */
  locale: string | null;
  /** Called only when the handler logs. */
  log: () => Logger;
  now: () => number;
  /** The frozen message; shared by all who are asked about it. */
  view: () => Message;
  services: ContextServices;
  /** See `DialogueHost`. */
  checksFlows: boolean;
}
