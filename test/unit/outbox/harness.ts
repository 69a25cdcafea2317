import { createTime, type Time } from "../../../src/model/time.ts";
import { onTestFinished, vi } from "vitest";
import { loadConfig, type Environment } from "../../../src/config.ts";
import type { Outbox, ReplyRows } from "../../../src/outbox/outbox.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import type { OutgoingMessage, SendOutcome, WhatsAppConnection } from "../../../src/whatsapp/port.ts";
import { joinPath, type PathParts, type JoinedPath } from "../../_setup/path.ts";
import { begunFolder, silentLog } from "../store/temporary.ts";

/** Time that stands still until it is moved; timers run in their order when it is. */
export interface ManualClock {
  now(): number;
  time: Time;
  schedule: Time["after"];
  /** Moves on in steps from timer to timer, and lets what each of them began come to rest. */
  advance(ms: number): Promise<void>;
}

export function manualClock(start = Date.UTC(2026, 10, 21, 12)): ManualClock {
  let now = start;
  const timers = new Set<{ at: number; run: () => void }>();
  const after: Time["after"] = (ms, run) => {
    const timer = { at: now + ms, run };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  return {
    now: () => now,
    time: createTime({ now: () => now, monotonic: () => now, after }),
    schedule: after,
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        await rest();
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = end;
      await rest();
    },
  };
}

/** The host's clock, but whatever is to be done later is done as soon as what is being done now has ended. */
export const impatientTime: Time = createTime({
  now: Date.now,
  monotonic: () => performance.now(),
  after(_ms, run) {
    const soon = setImmediate(run);
    return () => clearImmediate(soon);
  },
});

/** Lets commits and promises that are under way end: each takes a few turns of the event loop, and no time. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 40; turn++) await new Promise((resolve) => setImmediate(resolve));
}

type Answer = (message: OutgoingMessage) => SendOutcome | Promise<SendOutcome>;

/** WhatsApp's end of the port as a script: answers each send as it is told to and remembers them in order. */
export interface Line {
  connection: WhatsAppConnection;
  sent: OutgoingMessage[];
  /** Texts that were sent to an address, in order. */
  texts(jid?: string): string[];
  answer(answer: Answer): void;
}

export function scriptedLine(answer: Answer = () => ({ kind: "sent" })): Line {
  const sent: OutgoingMessage[] = [];
  let current = answer;
  return {
    sent,
    texts: (jid) => sent.filter((message) => jid === undefined || message.jid === jid).map(textOf),
    answer: (next) => (current = next),
    connection: {
      async send(message) {
        sent.push(message);
        return current(message);
      },
      caughtUp: async () => undefined,
      groups: unused,
      checkNumbers: unused,
      contactDetails: unused,
      setBlocked: unused,
      watchPresence: unused,
      goOffline: unused,
      changeChat: unused,
      setTimer: unused,
      group: unused,
      groupAdmin: {} as never,
      profile: {} as never,
      channel: unused,
      followChannel: unused,
      unfollowChannel: unused,
      requestPairingCode: unused,
      answerPasskey: unused,
      confirmPasskey: unused,
      markRead: unused,
      showState: unused,
      mediaHosts: unused,
      reuploadMedia: unused,
      logout: unused,
      close: async () => undefined,
    },
  };
}

const unused = (): never => {
  throw new Error("The script has no answer to this.");
};

export const textOf = ({ draft }: OutgoingMessage): string => ("text" in draft ? draft.text : "");
export const jid = (number: number | string): string => `${number}@s.whatsapp.net`;
export const hang = (): Promise<SendOutcome> => new Promise(() => undefined);

/** A run of the gateway's way of a message, above all of its outbox, on a database that outlives it. */
export interface Run {
  store: Store;
  path: JoinedPath;
  outbox: RunOutbox;
  /** Connects the number, or ends its connection. */
  connect(line: Line | null): Promise<void>;
  setLinked(linked: boolean): void;
  close(): Promise<void>;
}

/** The way of a message as far as it is about what is sent. */
export type RunOutbox = Omit<Outbox, "open" | "forget"> &
  Pick<JoinedPath, "open" | "close" | "forget" | "lockTold"> & {
    wake: JoinedPath["online"];
    receipt: JoinedPath["receipts"];
    abandon: JoinedPath["unlinked"];
    drain: JoinedPath["sent"];
  };

export interface RunOptions {
  /** The number is open at once. Default true. */
  opens?: boolean;
  folder?: string;
  env?: Environment;
  clock?: ManualClock;
  /** Instead of a clock. */
  time?: Time;
  parts?: Omit<Partial<PathParts>, "connections">;
  /** Stands between the outbox and its store. */
  wrap?: (store: Store) => Store;
}

export const DEVICE = 1;
export const ACCOUNT = "account";
export const OWN_NUMBER = "491700000001";

/** Opens (or opens again) a database with one linked number, and an outbox on it. */
export async function startRun(options: RunOptions = {}): Promise<Run> {
  const { folder, env, clock, time, parts, wrap, opens = true } = options;
  const dataDir = folder ?? (await begunFolder());
  const config = loadConfig({ DATA_DIR: dataDir, LOG_LEVEL: "silent", STORE_THREAD: "off", ...env });
  const opened = await openStore(config, silentLog(config), time ?? clock?.time);
  const store = wrap?.(opened) ?? opened;
  await opened.writer.commit([
    {
      sql: "INSERT OR IGNORE INTO devices (id, account_id, number, state, since, created_at) VALUES (?, ?, ?, 'connected', 0, 0)",
      args: [DEVICE, ACCOUNT, OWN_NUMBER],
    },
  ]);
  let line: Line | null = null;
  let linked = true;
  const path = joinPath({
    store,
    config,
    log: silentLog(config),
    ...parts,
    connections: { connection: () => line?.connection ?? null, isLinked: () => linked },
  });
  if (opens) path.open(DEVICE).catch(() => undefined);
  let closed = false;
  const close = async (): Promise<void> => {
    if (closed) return;
    closed = true;
    await opened.close();
  };
  onTestFinished(close);
  return {
    store,
    path,
    outbox: outboxOf(path),
    async connect(next) {
      line = next;
      if (next !== null) await path.online(DEVICE);
    },
    setLinked: (value) => (linked = value),
    close,
  };
}

/** The part of the way of a message that sends, by the names of the outbox. */
export const outboxOf = (path: JoinedPath): RunOutbox => ({
  ...path,
  ...path.outbox,
  open: path.open,
  forget: path.forget,
  wake: path.online,
  receipt: path.receipts,
  abandon: path.unlinked,
  drain: path.sent,
});

/** Sends a text to each number, one request for all. */
export function submitTo(outbox: Pick<Outbox, "submit">, numbers: (number | string)[], text: string) {
  const destinations = numbers.map((number) => ({ number: String(number), jid: jid(number) }));
  return outbox.submit({ deviceId: DEVICE, destinations, draft: { kind: "text", text } });
}

/** Somebody wrote in this chat at that time. */
export async function wroteAt(store: Store, chat: string, at: number): Promise<void> {
  await store.writer.commit([
    {
      sql: "INSERT INTO chat_state (device_id, chat, last_incoming_at) VALUES (?, ?, ?)",
      args: [DEVICE, chat, at],
    },
  ]);
}

/** Rows of replies to a made-up message, not committed. */
export function replyRows(run: Run, inboxId: number, chat: string, texts: string[]): ReplyRows {
  const replies = texts.map((text) => ({ jid: chat, chat, draft: { kind: "text" as const, text } }));
  return run.outbox.rows({ deviceId: DEVICE, inboxId, origin: "bot:test", replies });
}

/** Puts replies to a made-up message into the outbox as the pipeline does. */
export async function reply(run: Run, inboxId: number, chat: string, texts: string[]): Promise<string[]> {
  const rows = replyRows(run, inboxId, chat, texts);
  rows.release(await run.store.writer.commit(rows.statements));
  return rows.waIds;
}

export const until = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { interval: 5 });
