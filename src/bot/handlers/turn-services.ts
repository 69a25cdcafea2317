import type { StoredMessage } from "../../model/answerer.ts";
import type { Logger } from "../../log.ts";
import type { ReadPast } from "../../model/past-message.ts";
import type { SafeFetch } from "../../net/safe-fetch.ts";
import type { Time } from "../../model/time.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import type { Stopwatch } from "./blocking.ts";
import type { ContextServices } from "./context-input.ts";
import { fetchFor } from "./fetching.ts";
import { translate, type Locales } from "../files/locales.ts";
import { NOBODY, type Onlooker } from "../answerers/onlooker.ts";
import { scopeOf } from "../sessions/scope.ts";
import type { BotState } from "../sessions/state.ts";
import type { Gate, Restart } from "./restart.ts";
import type { Steps } from "./steps.ts";
import type { MarkRead, TypingSign } from "./typing.ts";
import type { Bot, ReceivedFile } from "../types.ts";

/** Files that came with messages. */
export interface BotFiles {
  /** @throws {GatewayError} when WhatsApp does not give it */
  read(target: { deviceId: number; inboxId: number }, signal: AbortSignal): Promise<ReceivedFile>;
}

/** Says once what is missing in `locales/*.json`. */
type SayOnce = (bot: Pick<Bot, "id">, missing: { key: string; locale: string; value?: string }) => void;

/** However many texts are missing, the log has so many of them. */
const MOST_SAID = 1_000;

/** Says each thing once, and no more than so many. */
export function createSayOnce(log: Logger): SayOnce {
  const said = new Set<string>();
  return ({ id }, { key, locale, value }) => {
    const what = [id, locale, key, value].join("|");
    if (said.has(what) || said.size >= MOST_SAID) return;
    said.add(what);
    if (value === undefined)
      log.warn({ bot: id, key, locale }, "ctx.t: locales/*.json lacks a text in this language");
    else log.warn({ bot: id, key, locale, value }, "ctx.t: a text needs a value that was not given");
  };
}

/** What handlers reach beside their message. */
export interface ReachDeps {
  state: Pick<BotState, "stored" | "storedFrom" | "received">;
  files: BotFiles;
  /** What `ctx.fetch` asks. */
  http: Pick<SafeFetch, "request">;
  locales: () => Locales;
  /** What `ctx.history` reads. */
  history: ReadPast;
  /** For `ctx.idempotencyKey`: the same for the same message. */
  hmac(text: string): string;
  /** Ids of messages to be sent, the same whenever they are made. */
  messageIds: {
    /** Of a reply by its position, from 0. */
    reply(deviceId: number, inboxId: number, position: number): string;
    named(deviceId: number, name: string): string;
  };
  time: Pick<Time, "now" | "pause" | "after">;
  /** Whether a bot that is on for a number has this dialogue. */
  hasDialogue: (deviceId: number, botId: string, dialogue: string) => boolean;
  /** What `ctx.markRead` does. Default: nothing. */
  markRead?: MarkRead;
  /** Default: nobody. */
  onlooker?: Onlooker;
}

/** @param counts whether a newer text counts now */
export const gateOf = (steps: Steps, counts: () => boolean): Gate => ({
  ready: steps.ready,
  isOpen: () => counts() && !steps.isAnyDone(),
  shut: steps.giveUp,
});

interface OfOneTurn {
  steps: Steps;
  restart: Restart | undefined;
  stopwatch: Stopwatch;
  firstReply: number;
  lost(error: StorageUnavailable): void;
  typing: TypingSign | undefined;
}

/** What a handler reaches outside of itself; `lost` is told when it was the database that failed, whatever becomes of that. */
export function servicesFor(
  {
    files,
    history,
    http,
    locales,
    hmac,
    messageIds,
    said,
    state,
    time,
    hasDialogue,
    markRead,
    onlooker = NOBODY,
  }: ReachDeps & { said: SayOnce },
  bot: Bot,
  stored: StoredMessage,
  { steps, stopwatch, firstReply, lost, restart, typing }: OfOneTurn,
): ContextServices {
  const { deviceId, inboxId, together } = stored;
  const chat = stored.message.chatKey;
  /** Steps under way during which a newer text counts. */
  let counting = 0;
  async function telling<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof StorageUnavailable) lost(error);
      throw error;
    } finally {
      stopwatch.goesOn();
    }
  }
  return {
    step: async (key, work, signal, { newer } = {}) => {
      const id = `${inboxId}:${bot.id}:${key}`;
      const run = (inTime: AbortSignal) => stopwatch.during(() => onlooker.step(id, () => work(inTime)));
      if (newer !== "restart") return telling(steps.run(key, run, signal));
      counting++;
      restart?.begin(gateOf(steps, () => counting > 0));
      return telling(steps.run(key, run, signal)).finally(() => counting--);
    },
    idempotencyKey: (key) => hmac(`${deviceId}:${inboxId}:${bot.was[0] ?? bot.id}:${key}`),
    replyId: (position) => messageIds.reply(deviceId, inboxId, firstReply + position),
    hasDialogue: (botId, dialogue) => hasDialogue(deviceId, botId, dialogue),
    typing: () => typing?.now(),
    // A timer's message is nobody's.
    markRead: () => (stored.message.timer ? undefined : markRead?.(deviceId, stored.message)),
    begins: stopwatch.goesOn,
    after: time.after,
    namedId: (name) => messageIds.named(deviceId, name),
    async file(signal, messageId) {
      if (messageId === undefined) return telling(files.read({ deviceId, inboxId }, signal));
      const found = await telling(state.received(deviceId, scopeOf(stored.message), messageId));
      if (found === null)
        throw new TypeError(`The message ${messageId} of this chat is not stored any more (RETENTION_DAYS).`);
      return telling(files.read({ deviceId, inboxId: found }, signal));
    },
    fetch: (address, options, turn) => telling(fetchFor({ http, time }, address, options, turn)),
    history: (count) => telling(history({ ...stored, chat, inboxIds: together ?? [inboxId] }, count)),
    store: {
      stored: (...of) => telling(state.stored(...of)),
      storedFrom: (...of) => telling(state.storedFrom(...of)),
    },
    translate: (languages, key, values) =>
      translate(locales(), languages, key, values, (missing) => said(bot, missing)),
  };
}
