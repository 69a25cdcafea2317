import { expect } from "vitest";
import { createAlarm, type Alarm } from "../../../src/bot/alarm.ts";
import { createBotAnswerers, type BotAnswerersDeps } from "../../../src/bot/answerers.ts";
import { readBot } from "../../../src/bot/define.ts";
import { readLocales } from "../../../src/bot/locales.ts";
import { createBotState } from "../../../src/bot/state.ts";
import { buildTable, type RouteTable } from "../../../src/bot/table.ts";
import { createTimers, type Timers } from "../../../src/bot/timers.ts";
import type { AnyContext, BotDefinition, BotOptions, Routes } from "../../../src/bot/types.ts";
import { createInbox } from "../../../src/inbox/inbox.ts";
import { createLids } from "../../../src/directory/lids.ts";
import { timeWithClock } from "../../../src/model/time.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import type { Answerer } from "../../../src/model/answerer.ts";
import type { DecisionRow } from "../../../src/pipeline/deps.ts";
import type { Store } from "../../../src/store/store.ts";
import { temporaryFolder } from "../store/temporary.ts";
import { DEVICE, manualClock, OWN_NUMBER, scriptedLine, until, type Line } from "../outbox/harness.ts";
import { crash, startPipeline, text, typed, type Decision, type PipelineRun } from "../pipeline/harness.ts";
import { listeningLog } from "./messages.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- bots of whatever config and session
type AnyDefinition = BotDefinition<any, any> | ((b: Routes) => void);
export type Bots = Record<string, AnyDefinition>;

export interface HarnessOptions extends Partial<Pick<BotAnswerersDeps, "media" | "files" | "stopping">> {
  env?: Record<string, string>;
  config?: Record<string, unknown>;
  locales?: Record<string, unknown>;
  botTimeoutMs?: number;
  /** Asked last. */
  webhook?: Answerer;
  /** Stands between everything and the store. */
  wrap?: (store: Store) => Store;
  onDecided?: (message: Incoming, row: DecisionRow) => void;
}

/** Bots on the real path of a message: lanes, guards, one commit, outbox. Clock and connection are the test's. */
export interface BotHarness {
  readonly run: PipelineRun;
  readonly line: Line;
  readonly clock: ReturnType<typeof manualClock>;
  readonly log: ReturnType<typeof listeningLog>;
  /** Somebody writes, and the message is decided and what it brought has left. Gives its decision. */
  say(words: string | Partial<Incoming>, from?: number): Promise<Decision>;
  /** Somebody writes; nothing is waited for. */
  write(...messages: Incoming[]): Promise<void>;
  message(words: string | Partial<Incoming>, from?: number): Incoming;
  ownerTypes(words: string, to?: number): Promise<void>;
  /** Texts that left since the last look. */
  heard(): string[];
  settled(): Promise<void>;
  /** Time passes, with the timers that become due. */
  later(ms: number): Promise<void>;
  decision(waId: string): Promise<Decision>;
  rows(sql: string): Promise<number>;
  /** Ends the process as `kill -9` does and starts it again, with other code when it is given. */
  kill(bots?: Bots): Promise<void>;
}

export const ANA = 4915001;

export function tableOf(bots: Bots, config: Record<string, unknown> = {}): RouteTable {
  return buildTable(
    Object.entries(bots).map(([id, definition]) => {
      const { bot } = readBot(id, definition);
      return { bot, priority: bot.priority, config };
    }),
  );
}

export async function startBots(first: Bots, options: HarnessOptions = {}): Promise<BotHarness> {
  const { locales } = readLocales(options.locales ?? {});
  const folder = temporaryFolder();
  const clock = manualClock();
  const log = listeningLog();
  const line = scriptedLine();
  const unavailable = () => Promise.reject(new Error("no files here"));
  let seen = 0;
  let timers: Timers;
  let run: PipelineRun;

  async function open(bots: Bots): Promise<void> {
    const answerers: Answerer[] = [];
    const table = tableOf(bots, options.config);
    let alarm!: Alarm;
    let state!: ReturnType<typeof createBotState>;
    run = await startPipeline({
      folder,
      clock,
      // Whether everything is done is asked of the database.
      deps: { collectMs: 0 },
      started: false,
      answerers,
      ...(options.env && { env: options.env }),
      ...(options.onDecided && {
        pipelineDeps: { onDecided: ({ message }, row) => options.onDecided!(message, row) },
      }),
      wrap(opened) {
        const store = options.wrap?.(opened) ?? opened;
        alarm = createAlarm(clock.time);
        state = createBotState(store, alarm.expect);
        const made = createBotAnswerers({
          bindings: { tableOf: () => table },
          state,
          media: options.media ?? { prepare: unavailable },
          files: options.files ?? { read: unavailable },
          locales: () => locales,
          config: { botTimeoutMs: options.botTimeoutMs ?? 10_000, takeoverMinutes: 30 },
          hmac: (words) => store.box.hmac("bot-step", words).toString("base64url"),
          log: log.log,
          time: timeWithClock(clock.now),
          ...(options.stopping && { stopping: options.stopping }),
        });
        answerers.push(made.observers, made.interrupts, made.conversations, made.routes);
        if (options.webhook) answerers.push(options.webhook);
        return store;
      },
    });
    timers = createTimers({
      state,
      alarm,
      silent: { step: async () => undefined },
      commit: run.store.writer.commit,
      record: createInbox(run.store).recordTimer,
      deliver: run.pipeline.due,
      numberOf: () => OWN_NUMBER,
      canonicalChat: createLids({ store: run.store, identity: () => null }).canonicalChat,
      time: clock.time,
      onError: (error) => log.log.error({ error: String(error) }, "timers"),
    });
    await run.outbox.start();
    await run.outbox.open(DEVICE);
    await run.pipeline.open(DEVICE);
    await timers.open(DEVICE);
    await run.connect(line);
    timers.start();
  }

  const count = async (sql: string): Promise<number> => Number((await run.store.rows(sql, []))[0]!.n);
  const settled = async (): Promise<void> => {
    await until(async () => {
      expect(await run.undecided()).toBe(0);
      expect(await count("SELECT count(*) AS n FROM outbox WHERE state = 'queued'")).toBe(0);
    });
  };
  const message = (words: string | Partial<Incoming>, from: number = ANA): Incoming => {
    const more = typeof words === "string" ? {} : words;
    const timestamp = Math.floor(clock.now() / 1000);
    return text(from, typeof words === "string" ? words : "", { timestamp, ...more });
  };

  await open(first);
  const harness: BotHarness = {
    get run() {
      return run;
    },
    line,
    clock,
    log,
    message,
    settled,
    rows: count,
    write: (...messages) => run.receive(...messages),
    async say(words, from) {
      const sent = message(words, from);
      await run.receive(sent);
      await settled();
      return harness.decision(sent.id);
    },
    async ownerTypes(words, to = ANA) {
      await run.receive(typed(to, words, { timestamp: Math.floor(clock.now() / 1000) }));
      await settled();
    },
    heard() {
      const fresh = line.texts().slice(seen);
      seen = line.sent.length;
      return fresh;
    },
    async later(ms) {
      const end = clock.now() + ms;
      await clock.advance(ms);
      const due = `SELECT count(*) AS n FROM bot_timers WHERE due_at <= ${end}`;
      // A sweep that found the table as it was before looks again half a minute later.
      await until(async () => {
        if ((await count(due)) > 0) await clock.advance(50);
        expect(await count(due)).toBe(0);
      });
      await settled();
    },
    async decision(waId) {
      const found = await run.decision(waId);
      if (found === null) throw new Error(`Message ${waId} has no decision.`);
      return found;
    },
    async kill(bots) {
      await timers.stop();
      await crash(run);
      await open(bots ?? first);
    },
  };
  return harness;
}

/** Bots of one handler each, for tests of what a handler may do. */
export const bot = (routes: (b: Routes) => void, options: BotOptions = {}): BotDefinition => ({
  ...options,
  routes,
});
export const onHi = (handler: (ctx: AnyContext) => unknown) => bot((b) => b.keyword("hi", handler));
export { DEVICE };
