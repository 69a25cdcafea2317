import { createTime } from "../../src/model/time.ts";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config.ts";
import { SENT_STATES } from "../../src/model/messages.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { removeFolder } from "../_setup/folders.ts";
import { joinPath } from "../_setup/path.ts";
import {
  ACCOUNT,
  DEVICE,
  jid,
  manualClock,
  outboxOf,
  OWN_NUMBER,
  rest,
  type RunOutbox,
} from "../unit/outbox/harness.ts";
import { silentLog } from "../unit/store/temporary.ts";
import { Service } from "./service.ts";
import { rawRows } from "../unit/store/rows.ts";

const MINUTE_MS = 60_000;
const ENDED = new Set(["failed", "expired"]);
const never = new Promise<never>(() => undefined);

interface SeenRow {
  waId: string;
  text: string;
  state: string;
}

/** An outbox on a real database, WhatsApp's end of it, and all that was ever seen of its rows. */
export class OutboxRun {
  readonly clock = manualClock();
  readonly service = new Service(this.clock.now, (waId) => ENDED.has(this.#seen.get(waId)?.state ?? ""));
  /** Texts by chat, in the order in which they were stored. */
  readonly stored = new Map<string, string[]>();
  readonly #folder = mkdtempSync(join(tmpdir(), "parley-property-"));
  readonly #seen = new Map<string, SeenRow>();
  readonly #texts = new Map<string, string>();
  #generation = 0;
  #messages = 0;
  #incoming = 0;
  #store!: Store;
  #outbox!: RunOutbox;

  async start(pauseIsKnown = true): Promise<void> {
    const generation = ++this.#generation;
    const isGone = (): boolean => generation !== this.#generation;
    const config = loadConfig({
      DATA_DIR: this.#folder,
      LOG_LEVEL: "silent",
      STORE_THREAD: "off",
      SEND_WAIT_MS: "0",
    });
    const { now, time } = this.clock;
    const mortalTime = createTime({
      now,
      monotonic: now,
      after: (ms, run) => time.after(ms, () => (isGone() ? undefined : run())),
    });
    const store = await openStore(config, silentLog(config), mortalTime);
    this.#store = store;
    await store.writer.commit([
      {
        sql: "INSERT OR IGNORE INTO devices (id, account_id, number, state, since, created_at) VALUES (?, ?, ?, 'connected', 0, 0)",
        args: [DEVICE, ACCOUNT, OWN_NUMBER],
      },
    ]);
    const path = joinPath({
      // A process that was killed commits nothing, reads nothing and has no timers.
      store: {
        ...store,
        read: async (...question) => (isGone() ? never : store.read(...question)),
        readOne: async (...question) => (isGone() ? never : store.readOne(...question)),
        writer: {
          ...store.writer,
          commit: async (work) => (isGone() ? never : store.writer.commit(work)),
          soon: async (work) => (isGone() ? never : store.writer.soon(work)),
        },
      },
      config,
      log: silentLog(config),
      connections: { connection: () => (isGone() ? null : (this.service.line?.connection ?? null)) },
    });
    this.#outbox = outboxOf(path);
    this.service.restarted((receipts) => this.#outbox.receipt(DEVICE, receipts), pauseIsKnown);
    await this.#outbox.start();
    await this.#outbox.open(DEVICE);
  }

  /** Sends by REST, one request. */
  async submit(chats: number[]): Promise<void> {
    const text = `text ${++this.#messages}`;
    const destinations = chats.map((chat) => ({ number: String(chat), jid: jid(chat) }));
    const results = await this.#outbox.submit({
      deviceId: DEVICE,
      destinations,
      draft: { kind: "text", text },
    });
    // The same text to several chats is several messages.
    for (const [index, chat] of chats.entries()) this.#note(jid(chat), text, results[index]!.id!);
  }

  /** Replies to a made-up message; `then`: what happens after their commit. */
  async reply(chat: number, count: number, then: "release" | "wake" | "crash"): Promise<void> {
    const texts = Array.from({ length: count }, () => `reply ${++this.#messages}`);
    const replies = texts.map((text) => ({
      jid: jid(chat),
      chat: jid(chat),
      draft: { kind: "text" as const, text },
    }));
    const rows = this.#outbox.rows({
      deviceId: DEVICE,
      inboxId: ++this.#incoming,
      origin: "bot:test",
      replies,
    });
    const results = await this.#store.writer.commit(rows.statements);
    for (const [index, text] of texts.entries()) this.#note(jid(chat), text, rows.waIds[index]!);
    if (then === "release") rows.release(results);
    if (then === "wake") await this.#outbox.wake(DEVICE);
    if (then === "crash") await this.crash(0);
  }

  #note(chat: string, text: string, waId: string): void {
    this.#texts.set(waId, text);
    this.stored.set(chat, [...(this.stored.get(chat) ?? []), text]);
  }

  async connect(): Promise<void> {
    this.service.disconnect();
    this.service.connect();
    await this.#outbox.wake(DEVICE);
  }

  /** In the order given, each about one of the messages that WhatsApp took last. */
  receipts(list: [fromLast: number, state: "delivered" | "read" | "played"][]): void {
    for (const [fromLast, state] of list) {
      const waId = this.service.takenIds.at(-fromLast);
      if (waId !== undefined) this.service.receipt(waId, state, jid(4915001));
    }
  }

  /** What waited comes while the outbox still looks what there is to send. */
  async connectAndHear(turns: number): Promise<void> {
    const awake = this.connect();
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    this.service.handOver();
    await awake;
  }

  /**
   * A message arrives, and its ack never does; the line comes back before the receipt does.
   *
   * @param turns of the event loop until the receipt comes too; null: not yet
   */
  async loseAck(chat: number, state: "delivered" | "read" | "played", turns: number | null): Promise<void> {
    await this.connect();
    this.service.handOver();
    await this.settle();
    const before = this.service.takenIds.length;
    this.service.fates.unshift("held");
    await this.reply(chat, 1, "release");
    await this.settle();
    this.service.disconnect();
    for (const waId of this.service.takenIds.slice(before)) this.service.receipt(waId, state, jid(chat));
    await (turns === null ? this.connect() : this.connectAndHear(turns));
  }

  async abandon(): Promise<void> {
    this.service.disconnect();
    await this.#outbox.abandon(DEVICE);
  }

  /** SIGKILL and a new start on the same file. @param turns of the event loop until it hits */
  async crash(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    this.#generation++;
    this.service.crash();
    await this.#store.close();
    // What was not stored when it hit is not known to the next one.
    await this.start(turns > 30);
  }

  /** Everything that needs no more time comes to rest. */
  async settle(): Promise<void> {
    for (let round = 0; round < 3; round++) {
      await rest();
      await this.#store.writer.drain();
    }
  }

  /** Looks at all rows, and compares them with what was seen before. */
  async look(): Promise<SeenRow[]> {
    const rows = await rawRows(this.#store, "SELECT wa_id, state FROM outbox ORDER BY id", []);
    const now: SeenRow[] = rows.map(({ wa_id, state }) => ({
      waId: String(wa_id),
      text: this.#texts.get(String(wa_id)) ?? "?",
      state: String(state),
    }));
    for (const row of now) {
      const before = this.#seen.get(row.waId);
      if (before && !mayFollow(before.state, row.state))
        this.service.problems.push(`${row.text}: ${row.state} after ${before.state}`);
      this.#seen.set(row.waId, row);
    }
    for (const { wa_id } of rows) {
      const record = await this.#outbox.find(ACCOUNT, String(wa_id));
      record!.history.reduce<{ state: string; at: number }>(
        (before, { state, at }) => {
          if (!mayFollow(before.state, String(state)) || Number(at) < before.at)
            this.service.problems.push(
              `${this.#texts.get(String(wa_id))}: history goes from ${before.state} to ${state}`,
            );
          return { state: String(state), at: Number(at) };
        },
        { state: "queued", at: 0 },
      );
    }
    return now;
  }

  /** The connection works and goes on working: everything must come to its end. */
  async finish(): Promise<SeenRow[]> {
    this.service.fates.length = 0;
    await this.connect();
    this.service.handOver();
    for (let round = 0; round < 40; round++) {
      await this.settle();
      const rows = await this.look();
      if (rows.every(({ state }) => state !== "queued")) return rows;
      await this.clock.advance(MINUTE_MS);
    }
    return this.look();
  }

  async close(): Promise<void> {
    this.#generation++;
    await this.#store.close();
    removeFolder(this.#folder);
  }
}

const rank = (state: string): number => (SENT_STATES as readonly string[]).indexOf(state);

function mayFollow(before: string, after: string): boolean {
  if (before === after) return true;
  if (ENDED.has(before)) return false;
  return ENDED.has(after) ? before === "queued" : rank(after) > rank(before);
}
