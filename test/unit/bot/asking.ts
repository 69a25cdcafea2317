import { namedId, replyId } from "../../../src/outbox/rows.ts";
import { createBotAnswerers } from "../../../src/bot/answerers/answerers.ts";
import { readLocales } from "../../../src/bot/files/locales.ts";
import { createBotState } from "../../../src/bot/sessions/state.ts";
import type { RouteTable } from "../../../src/bot/routes/table.ts";
import type { Logger } from "../../../src/log.ts";
import { blankNotes, type Answer, type Asked, type StoredMessage } from "../../../src/model/answerer.ts";
import { timeWithClock } from "../../../src/model/time.ts";
import type { Store } from "../../../src/store/store.ts";
import { temporaryStore } from "../store/temporary.ts";

export interface AskingOptions {
  tableOf: (deviceId: number) => RouteTable;
  log: Logger;
  now?: () => number;
  botTimeoutMs?: number;
  stopping?: AbortSignal;
  store?: Store;
  locales?: Record<string, unknown>;
}

/** Asks bots as the pipeline does: observers, interrupts, dialogue, routes; the trails of all of them in one. */
export function asking(options: AskingOptions) {
  const { tableOf, log, now = Date.now, botTimeoutMs = 1000, stopping } = options;
  const { locales } = readLocales(options.locales ?? {});
  const unavailable = () => Promise.reject(new Error("no files here"));
  const open = async () => {
    const store = options.store ?? (await temporaryStore());
    return createBotAnswerers({
      bindings: { tableOf },
      state: createBotState({ ...store, now }),
      media: { prepare: unavailable },
      messages: { findQuote: async () => null, handedOn: async () => null },
      history: async () => [],
      files: { read: unavailable },
      http: { request: unavailable },
      locales: () => locales,
      config: { botTimeoutMs, takeoverMinutes: 30 },
      hmac: (text) => store.box.hmac("bot-step", text).toString("base64url"),
      messageIds: {
        reply: (...reply) => replyId(store.box, ...reply),
        named: (...name) => namedId(store.box, ...name),
      },
      log,
      time: timeWithClock(now),
      ...(stopping && { stopping }),
    });
  };
  let opened: ReturnType<typeof open> | null = null;
  return async (stored: StoredMessage, asked: Partial<Asked> = {}): Promise<Answer> => {
    const bots = await (opened ??= open());
    const trail: Answer["trail"] = [];
    const full: Asked = {
      notes: blankNotes(),
      paused: false,
      waitForMore: async () => [],
      onInterrupt: () => () => undefined,
      ...asked,
    };
    for (const answerer of [bots.observers, bots.interrupts, bots.conversations, bots.routes]) {
      const answer = await answerer.answer(stored, full);
      trail.push(...answer.trail);
      if (answer.kind === "answer") return { ...answer, trail };
    }
    return { kind: "pass", trail };
  };
}

export function textsOf(answer: Answer): string[] | null {
  if (answer.kind === "pass") return null;
  return answer.replies.map(({ draft }) => ("text" in draft ? draft.text : draft.kind));
}
