/** Very many chats in which nobody writes any more, each with an open flow, and what `bots check` says of them. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createRegistry } from "../../src/bot/files/registry.ts";
import { lookAhead } from "../../src/bot/forecast/look-ahead.ts";
import { createBotState } from "../../src/bot/sessions/state.ts";
import { EXPIRE, type NewTimer } from "../../src/bot/timers/timer-rows.ts";
import type { BotDefinition } from "../../src/bot/types.ts";
import type { Logger } from "../../src/log.ts";
import { DAY_MS } from "../../src/model/time.ts";
import type { Store } from "../../src/store/store.ts";

const FIRST_NUMBER = 4_920_000_000_000;
const AT_ONCE = 1_000;
const BOT = "bench";
const FLOW = "flow";
const KEYS = ["name", "street", "city", "country"];
const ANSWERED = 3;
const question = (key: string): string => `Your ${key}?`;

/** The bot of these chats: it counts, and its flow has asked its last question everywhere. */
export const idleBot: BotDefinition<Record<string, unknown>, { n: number }> = {
  session: { initial: () => ({ n: 0 }) },
  routes(b) {
    b.keyword("ping", (ctx) => ctx.reply(`pong ${++ctx.session.n}`));
    b.flow(FLOW, async (f) => {
      for (const key of KEYS) await f.text(key, question(key));
    });
  },
};

/** Megabytes of this process. */
export const ownRssMb = (): number => process.memoryUsage.rss() / 1024 / 1024;

const chatOf = (index: number): string => `${FIRST_NUMBER + index}@s.whatsapp.net`;

/** What is kept of a flow that waits for its last answer. */
const openFlow = (index: number): Record<string, unknown> => ({
  entries: KEYS.slice(0, ANSWERED).map((key) => ({ key, kind: "answer", value: `a ${key}` })),
  seed: `bench-${index}`,
  open: { key: KEYS[ANSWERED], shown: { text: question(KEYS[ANSWERED]!), options: null }, tries: 0 },
});

function expiry(index: number, now: number): NewTimer {
  const chat = chatOf(index);
  return {
    key: EXPIRE,
    dueAt: now + DAY_MS,
    body: {
      chat,
      chatKey: chat,
      chatKind: "dm",
      sender: chat,
      number: String(FIRST_NUMBER + index),
      lid: null,
      pushName: "",
      participant: null,
      data: { dialogue: FLOW, begun: true },
    },
  };
}

/** Stores so many chats of a number: of each its flow, the flow's timer, its session, and when somebody wrote last. */
export async function fillIdleChats(store: Store, device: number, count: number): Promise<void> {
  const state = createBotState(store);
  const now = store.now();
  for (let from = 0; from < count; from += AT_ONCE) {
    const chats = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => from + i);
    await store.writer.commit(
      chats.flatMap((index) => {
        const scope = { key: chatOf(index), alias: null };
        return [
          ...state.saveDialogue(device, scope, {
            botId: BOT,
            dialogue: FLOW,
            state: openFlow(index),
            expiresAt: now + DAY_MS,
          }),
          ...state.setTimer(device, BOT, scope, expiry(index, now)),
          ...state.saveSession(device, BOT, scope, {
            version: 1,
            value: { n: 7 },
            locale: null,
            expiresAt: null,
          }),
          {
            sql: "INSERT INTO chat_state (device_id, chat, last_incoming_at) VALUES (?, ?, ?)",
            args: [device, scope.key, now],
          },
        ];
      }),
    );
  }
}

/** What a look ahead over {@link fillIdleChats} has found, and what it took. */
export interface IdleCheck {
  seconds: number;
  /** Milliseconds that it held the event loop at most. */
  held: number;
  /** Megabytes beyond those before. */
  memory: number;
  goOn: number;
  sessions: number;
  lost: number;
}

/** `bots check` with the bot that these chats have. */
export async function checkIdleChats({ pages, box, now }: Store, log: Logger): Promise<IdleCheck> {
  const registry = createRegistry([{ id: BOT, file: BOT, exported: idleBot }], log);
  globalThis.gc?.();
  const before = ownRssMb();
  let most = before;
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  const began = performance.now();
  const between = async (): Promise<void> => void (most = Math.max(most, ownRssMb()));
  const { bots, lost } = await lookAhead({ pages, box, now }, { registry, locales: new Map() }, { between });
  const seconds = (performance.now() - began) / 1_000;
  delays.disable();
  const goOn = bots.flatMap(({ dialogues }) => dialogues).reduce((sum, { goes_on: one }) => sum + one, 0);
  const sessions = bots.reduce((sum, bot) => sum + bot.sessions.all, 0);
  return { seconds, held: delays.max / 1e6, memory: most - before, goOn, sessions, lost };
}
