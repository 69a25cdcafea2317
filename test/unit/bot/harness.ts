import { expect } from "vitest";
import type { BotAnswerersDeps } from "../../../src/bot/answerers/answerers.ts";
import { readBot } from "../../../src/bot/routes/define.ts";
import { readLocales } from "../../../src/bot/files/locales.ts";
import { buildTable, type RouteTable } from "../../../src/bot/routes/table.ts";
import type { AnyContext, BotDefinition, BotOptions, Routes } from "../../../src/bot/types.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import type { Answerer } from "../../../src/model/answerer.ts";
import type { DecisionRow } from "../../../src/pipeline/deps.ts";
import type { Store } from "../../../src/store/store.ts";
import type { SafeFetch } from "../../../src/net/safe-fetch.ts";
import { begunFolder } from "../store/temporary.ts";
import { DEVICE, manualClock, scriptedLine, until, type Line } from "../outbox/harness.ts";
import { startPath, type Decision, type PathRun } from "../path/harness.ts";
import { text, typed } from "../pipeline/harness.ts";
import { listeningLog } from "./messages.ts";
import { rawRows } from "../store/rows.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- bots of whatever config and session
type AnyDefinition = BotDefinition<any, any> | ((b: Routes) => void);
export type Bots = Record<string, AnyDefinition>;

export interface HarnessOptions extends Partial<Pick<BotAnswerersDeps, "media" | "files" | "stopping">> {
  env?: Record<string, string>;
  config?: Record<string, unknown>;
  http?: SafeFetch;
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
  readonly run: PathRun;
  /** Where the data lies. */
  readonly folder: string;
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
  const folder = await begunFolder();
  const clock = manualClock();
  const log = listeningLog();
  const line = scriptedLine();
  let seen = 0;
  let run: PathRun;

  async function open(bots: Bots): Promise<void> {
    run = await startPath({
      folder,
      clock,
      bots,
      numbers: [DEVICE],
      log: log.log,
      locales,
      env: { BOT_TIMEOUT_MS: String(options.botTimeoutMs ?? 10_000), ...options.env },
      ...(options.media && { media: options.media }),
      ...(options.files && { files: options.files }),
      ...(options.http && { http: options.http }),
      ...(options.stopping && { stopping: options.stopping }),
      ...(options.webhook && { answerers: [options.webhook] }),
      ...(options.wrap && { wrap: options.wrap }),
    });
    if (options.onDecided)
      run.observers.add({
        decided: ({ stored, decision }) => options.onDecided!(stored.message, decision),
      });
    const bound = Object.keys(bots).map((id) => ({ id, enabled: true, config: options.config ?? null }));
    await run.path.bindings.put(DEVICE, bound);
    run.connect(line);
    await run.path.open(DEVICE);
    run.path.start();
    await run.path.online(DEVICE);
  }

  const count = async (sql: string): Promise<number> => Number((await rawRows(run.store, sql, []))[0]!.n);
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
    folder,
    line,
    clock,
    log,
    message,
    settled,
    rows: count,
    write: (...messages) => run.receive(DEVICE, ...messages),
    async say(words, from) {
      const sent = message(words, from);
      await run.receive(DEVICE, sent);
      await settled();
      return harness.decision(sent.id);
    },
    async ownerTypes(words, to = ANA) {
      await run.receive(DEVICE, typed(to, words, { timestamp: Math.floor(clock.now() / 1000) }));
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
      await run.end();
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
