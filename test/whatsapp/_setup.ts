import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, onTestFinished } from "vitest";
import { loadConfig } from "../../src/config.ts";
import { createAudit, type Audit } from "../../src/audit/audit.ts";
import { createInbox } from "../../src/inbox/inbox.ts";
import type { Draft } from "../../src/model/content/drafts.ts";
import type { Incoming } from "../../src/model/messages.ts";
import { startSimulator, type Simulator, type SimulatorOptions } from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import type {
  ChannelChange,
  Closed,
  ConnectionEvent,
  GroupChange,
  LinkedIdentity,
  MessageReceipt,
  OwnReading,
  SendOutcome,
  SentContent,
  WhatsApp,
  WhatsAppConnection,
} from "../../src/whatsapp/port.ts";
import { createWhatsApp } from "../../src/whatsapp/whatsapp.ts";
import type { Statement } from "../../src/model/statement.ts";
import { StorageUnavailable } from "../../src/store/errors.ts";
import { joinIntakes, type Intake } from "../../src/store/write/intake.ts";
import { removeFolder } from "../_setup/folders.ts";

export const OWN = "31600000001";
export const GUEST = "31600000100";
/** `npm run test:baileys` runs all of this Baileys' way. */
export const EVERYDAY_PATH = process.env["EVERYDAY_PATH"] !== "off";
export const silent = pino({ level: "silent" });

const ending: (() => Promise<void> | void)[] = [];
const simulators: Simulator[] = [];

/** Starts a simulator; a violation that the test did not expect fails it. */
export async function simulate(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator({ controlPort: false, ...options });
  endWithTest();
  simulators.push(simulator);
  return simulator;
}

/** Runs when the test ends, the last one first. */
export function atEnd(step: () => Promise<void> | void): void {
  endWithTest();
  ending.unshift(step);
}

// Not a hook of this module, which is loaded once for all files of a worker.
function endWithTest(): void {
  if (simulators.length === 0 && ending.length === 0) onTestFinished(endTest);
}

async function endTest(): Promise<void> {
  const running = simulators.splice(0);
  for (const simulator of running) await simulator.settle();
  for (const step of ending.splice(0)) await step();
  const violations = (await Promise.all(running.map((simulator) => simulator.violations()))).flat();
  for (const simulator of running) await simulator.stop();
  // oxlint-disable-next-line vitest/no-standalone-expect -- this is the promise of every test here
  expect(violations).toEqual([]);
}

/** Waits until a condition holds. @throws with `what` when it does not within the time (milliseconds) */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | null | Promise<T | undefined | false | null>,
  timeoutMs = 60_000,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Settings of a gateway that talks to a simulator. */
export function settings(simulator: Simulator, dataDir: string) {
  return loadConfig({
    DATA_DIR: dataDir,
    STORE_THREAD: "off",
    WHATSAPP_WS_URL: simulator.wsUrl,
    WHATSAPP_NOISE_ROOT: simulator.noiseRoot,
  });
}

/** A folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-whatsapp-"));
  endWithTest();
  ending.push(() => removeFolder(folder));
  return folder;
}

/** A store of its own, closed when the test ends. Counts what is asked of it. */
export async function testStore(simulator: Simulator, folder = temporaryFolder()): Promise<Store> {
  const store = await openStore(settings(simulator, folder), silent);
  atEnd(() => store.close());
  return store;
}

/** A store that takes no messages while `away` or `refuses` is true; everything else goes on. */
export function withoutInbox(store: Store): Store & { away: boolean; refuses: boolean } {
  const wrapped = {
    ...store,
    away: false,
    refuses: false,
    writer: {
      ...store.writer,
      async commit(statements: Statement[]) {
        const stores = statements.some(({ sql }) => sql.startsWith("INSERT INTO inbox"));
        if (stores && wrapped.away) throw new StorageUnavailable("the inbox is away");
        if (stores && wrapped.refuses) throw new TypeError("The database cannot store this value.");
        return store.writer.commit(statements);
      },
    },
  };
  return wrapped;
}

/** One number's connections in a test: everything it was told, in order. */
export interface TestNumber {
  deviceId: number;
  qrs: string[];
  received: Incoming[];
  receipts: MessageReceipt[];
  /** What it was told of groups and channels. */
  groupChanges: GroupChange[];
  channelChanges: ChannelChange[];
  /** What the owner has read elsewhere. */
  read: OwnReading[];
  /** What is done to store that; default: nothing. */
  storeReading(): Promise<void>;
  storeReceipts(): Promise<void>;
  closes: Closed[];
  /** How much WhatsApp still had, as it was told. */
  waiting: (number | null)[];
  identity: LinkedIdentity | null;
  linked: number;
  opens: number;
  /** Whether calls are rejected. Default false. */
  rejectsCalls: boolean;
  connect(): Promise<WhatsAppConnection>;
  connection(): WhatsAppConnection;
  close(): Promise<void>;
  send(to: string, text: string, waId: string): Promise<SendOutcome>;
  /** Replaces what happens with stored messages. */
  onStored: (messages: Incoming[]) => void;
}

export interface TestWhatsApp {
  whatsapp: WhatsApp;
  store: Store;
  sent: Map<string, SentContent>;
  audit: Audit;
  /** Which way each message took, in and out: `in everyday`, `out no_session`, … */
  ways: string[];
  number(deviceId: number): TestNumber;
}

/** WhatsApp over the real client, with a real inbox behind it. */
export async function whatsappOn(
  simulator: Simulator,
  store: Store,
  sent = new Map<string, SentContent>(),
  everydayPath = EVERYDAY_PATH,
): Promise<TestWhatsApp> {
  const config = { ...settings(simulator, "/nowhere"), everydayPath };
  const ways: string[] = [];
  const audit = createAudit({ store, config, log: silent });
  const inbox = createInbox(store);
  const whatsapp = createWhatsApp({
    store,
    config,
    log: silent,
    sentMessage: async (_deviceId, waId) => sent.get(waId) ?? null,
    receivedContent: inbox.find,
    receivedChanges: inbox.changesOf,
    files: { load: async () => null, remember: async () => undefined },
    ownFiles: { idOf: () => "mf_none", make: () => Promise.reject(new Error("nothing is handed on")) },
    witness: audit.witness,
    observe(event) {
      if (event.type === "way" && event.direction !== "receipt")
        ways.push(`${event.direction} ${event.reason ?? "everyday"}`);
    },
  });
  await audit.load();
  atEnd(() => whatsapp.stop());
  const receive: ReceiveMessages = (deviceId, messages, onStored) => {
    const { statements, stored } = audit.found(deviceId, messages);
    const intake = inbox.intake(deviceId, messages, (recorded) =>
      onStored(recorded.map(({ message }) => message)),
    );
    return joinIntakes(intake, { statements, committed: stored });
  };
  return {
    whatsapp,
    store,
    audit,
    sent,
    ways,
    number: (deviceId) => testNumber(deviceId, store, whatsapp, receive, sent),
  };
}

type ReceiveMessages = (
  deviceId: number,
  messages: Incoming[],
  onStored: (stored: Incoming[]) => void,
) => Intake;

function note(event: ConnectionEvent, number: TestNumber): void {
  if (event.type === "qr") number.qrs.push(event.text);
  if (event.type === "waiting") number.waiting.push(event.count);
  if (event.type === "linked") number.linked++;
  if (event.type === "open") {
    number.identity = event.identity;
    number.opens++;
  }
  if (event.type === "closed") number.closes.push(event.closed);
  if (event.type === "groups") number.groupChanges.push(...event.changes);
  if (event.type === "channels") number.channelChanges.push(...event.changes);
}

function testNumber(
  deviceId: number,
  store: Store,
  whatsapp: WhatsApp,
  receive: ReceiveMessages,
  sent: Map<string, SentContent>,
): TestNumber {
  let current: WhatsAppConnection | null = null;
  const number: TestNumber = {
    deviceId,
    qrs: [],
    received: [],
    receipts: [],
    groupChanges: [],
    channelChanges: [],
    read: [],
    storeReading: async () => undefined,
    storeReceipts: async () => undefined,
    closes: [],
    waiting: [],
    identity: null,
    linked: 0,
    opens: 0,
    rejectsCalls: false,
    onStored: () => undefined,
    async connect() {
      await registered(store, deviceId);
      current = await whatsapp.connect(deviceId, {
        tell: (event) => note(event, number),
        messages: (messages) =>
          receive(deviceId, messages, (stored) => {
            number.received.push(...stored);
            number.onStored(stored);
          }),
        async store(event) {
          if (event.type === "receipts") {
            number.receipts.push(...event.receipts);
            return number.storeReceipts();
          }
          number.read.push(event.reading);
          await number.storeReading();
        },
        rejectsCalls: () => number.rejectsCalls,
      });
      return current;
    },
    connection() {
      if (current === null) throw new Error("not connected");
      return current;
    },
    close: async () => current?.close(),
    async send(to, text, waId) {
      const draft: Draft = { kind: "text", text };
      const jid = to.includes("@") ? to : `${to}@s.whatsapp.net`;
      sent.set(waId, { draft, chat: jid, jid });
      return number.connection().send({ waId, jid, draft });
    },
  };
  atEnd(() => number.close());
  return number;
}

/** Links a number by QR and waits until it is online. */
export async function link(simulator: Simulator, number: TestNumber, digits = OWN): Promise<void> {
  await number.connect();
  const qr = await until("a QR", () => number.qrs.at(-1));
  await simulator.scan(digits, qr);
  await until("the restart after linking", () => number.closes.some(({ code }) => code === 515));
  await number.connect();
  await until("the connection to open", () => number.opens > 0);
}

/** What arrives is stored for numbers that exist. */
export async function registered(store: Store, deviceId: number): Promise<void> {
  const sql = `insert or ignore into devices (id, account_id, number, state, since, created_at)
    values (?, 'account', ?, 'linking', 0, 0)`;
  await store.writer.commit([{ sql, args: [deviceId, OWN] }]);
}
