import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { joinPath } from "../../_setup/path.ts";
import { createBots } from "./bots.ts";
import { createHourBook } from "../../../src/audit/hours.ts";
import { loadConfig } from "../../../src/config.ts";
import { createLogger } from "../../../src/log.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import { createTime, DAY_MS, systemTime, type Time } from "../../../src/model/time.ts";
import type { MessagePath } from "../../../src/path/path.ts";
import type { CompanionRecord } from "../../../src/simulator/inside.ts";
import { commitIntake } from "../../../src/store/write/intake.ts";
import { openStore } from "../../../src/store/open.ts";
import { beginTenure } from "../../../src/store/write/owned.ts";
import type { Store } from "../../../src/store/store.ts";
import { jidOf, messageFrom } from "../../../src/testing/chats/incoming.ts";
import { openAuthState } from "../../../src/whatsapp/signal/auth-state.ts";
import { createKeyCache } from "../../../src/whatsapp/signal/key-cache.ts";

/** How much lies in the folder. `messages` counts both directions. */
export interface Size {
  messages: number;
  chats: number;
  waitingDeliveries: number;
  queued: number;
  dialogues: number;
  sessions: number;
}

/** The sizes of the issue, or the same in small. */
export function sizeOf(messages: number): Size {
  const share = messages / 1_000_000;
  const part = (whole: number): number => Math.max(10, Math.round(whole * share));
  return {
    messages,
    chats: part(100_000),
    waitingDeliveries: part(50_000),
    queued: part(50_000),
    dialogues: part(10_000),
    sessions: part(100_000),
  };
}

/** What a run needs to know of a folder. */
export interface Facts {
  size: Size;
  /** Accounts with their key and number: nearly all of the data; a tenth of it; nothing but the load of the run. */
  busy: Tenant;
  other: Tenant;
  light: Tenant;
  companions: Record<string, CompanionRecord>;
  /** A message in the middle of the busy number's, and the number of who wrote it. */
  someMessage: string;
  someChat: string;
  /** When it was made, Unix milliseconds. */
  made: number;
}

/** One account. */
export interface Tenant {
  account: string;
  key: string;
  number: string;
  deviceId: number;
}

const FACTS = "year.json";
const DAYS = 300;
/** In one go: as many as a busy gateway has in flight. */
const BATCH = 400;
/** As many events of one chat wait for the webhook. */
const WAITING_IN_A_CHAT = 5;
export const WEBHOOK = "http://127.0.0.1:9/webhook";

/** Its webhook's receiver is away, and one that is away for five days is switched off. */
const FRESH_MS = 3 * DAY_MS;

/** @returns null when the folder is not made, or not to its end, or too old to be of today */
export function readFacts(folder: string): Facts | null {
  const file = join(folder, FACTS);
  if (!existsSync(file)) return null;
  const facts = JSON.parse(readFileSync(file, "utf8")) as Facts;
  return facts.made > Date.now() - FRESH_MS ? facts : null;
}

/** Notes that the folder is whole. */
export function writeFacts(folder: string, facts: Facts): void {
  writeFileSync(join(folder, FACTS), JSON.stringify(facts, null, 2));
}

/**
 * Fills a folder in which numbers are linked with a year of messages, through the gateway's own way of a message: only
 * WhatsApp and the webhook's receiver are stand-ins, and the clock runs through the year.
 *
 * @param say told of progress
 * @returns a message of the busy number
 */
export async function fill(
  folder: string,
  { busy, other }: Pick<Facts, "busy" | "other">,
  size: Size,
  say: (text: string) => void,
): Promise<Pick<Facts, "someMessage" | "someChat">> {
  const making = await openFolder(folder, [busy, other], say);
  const { path, store, world } = making;
  const share = Math.round(size.messages / 2 / 10);
  await converse(making, other, { ...size, dialogues: 0, waitingDeliveries: 0 }, share);
  // Last: the receiver goes away in its end, and stays away.
  const some = await converse(making, busy, size, size.messages / 2 - share);
  await fillSessions(store, busy.deviceId, size.sessions);
  say(`${size.sessions} sessions`);
  world.online = false;
  await fillQueue(path, busy.deviceId, size.queued);
  say(`${size.queued} queued sends`);
  await closeFolder(making);
  return some;
}

/**
 * The same with one conversation alone.
 *
 * @param messages in both directions
 */
export async function fillOneChat(
  folder: string,
  tenant: Tenant,
  messages: number,
  say: (text: string) => void,
): Promise<void> {
  const making = await openFolder(folder, [tenant], say);
  const size = { ...sizeOf(messages), chats: 1, dialogues: 0, waitingDeliveries: 0 };
  await converse(making, tenant, size, messages / 2);
  await closeFolder(making);
}

async function openFolder(folder: string, tenants: Tenant[], say: (text: string) => void): Promise<Making> {
  mkdirSync(folder, { recursive: true });
  const year = createYear(Date.now() - DAYS * DAY_MS);
  const config = loadConfig({
    DATA_DIR: folder,
    LOG_LEVEL: "silent",
    LOOP_GUARD_PER_MINUTE: "0",
    PACE_PER_MINUTE: "0",
    SEND_WAIT_MS: "0",
    RETENTION_DAYS: "400",
    ALLOW_PRIVATE_NETWORK: "1",
  });
  const log = createLogger(config, { write: () => undefined });
  const store = await openStore(config, log, year.time);
  const world = createWorld();
  const path = joinPath({
    store,
    config,
    log,
    connections: {
      connection: () => (world.online ? (world.connection as never) : null),
      number: (id) => tenants.find(({ deviceId }) => deviceId === id)?.number ?? null,
    },
    bots: { registry: createBots(log) },
    http: world.http,
  });
  await path.load();
  for (const { deviceId } of tenants) await path.open(deviceId);
  path.start();
  return { path, store, year, world, say };
}

async function closeFolder({ path, store }: Making): Promise<void> {
  // As the gateway does every hour.
  await createHourBook(store).catchUp();
  await path.drain(1_000);
  await path.sent();
  await store.close();
}

/** Time that goes on by itself and is moved ahead. */
function createYear(from: number): { time: Time; moveOn(ms: number): void } {
  let ahead = from - Date.now();
  const now = (): number => Math.min(Date.now() + ahead, Date.now());
  return {
    time: createTime({ now, monotonic: systemTime.monotonic, after: systemTime.after }),
    moveOn: (ms) => void (ahead += ms),
  };
}

type World = ReturnType<typeof createWorld>;

function createWorld() {
  const world = {
    online: true,
    receiverUp: true,
    sent: 0,
    asked: 0,
    connection: {
      async send() {
        world.sent++;
        return { kind: "sent" as const };
      },
      caughtUp: async () => undefined,
      markRead: async () => undefined,
      showState: async () => undefined,
    },
    http: {
      async request(url: string) {
        world.asked++;
        const status = world.receiverUp ? 200 : 503;
        return { status, headers: new Headers(), body: Buffer.alloc(0), url };
      },
      check: async () => undefined,
    },
  };
  return world;
}

const contactOf = (index: number): string => `4915${String(index).padStart(8, "0")}`;

interface Making {
  path: MessagePath;
  store: Store;
  year: ReturnType<typeof createYear>;
  world: World;
  say(text: string): void;
}

/** Contacts write one after another, again and again; the last ones end in a dialogue, and with the receiver away. */
async function converse(
  making: Making,
  tenant: Tenant,
  size: Size,
  count: number,
): Promise<Pick<Facts, "someMessage" | "someChat">> {
  const { path, store, year, world, say } = making;
  const some = { someMessage: "", someChat: "" };
  for (let from = 0; from < count; from += BATCH) {
    const texts = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => {
      const at = from + index;
      const text = at >= count - size.dialogues ? "visit" : "order";
      return incoming(at, text, contactFor(at, count, size), year.time.now());
    });
    if (count - from <= size.waitingDeliveries) world.receiverUp = false;
    if (from <= count / 2)
      Object.assign(some, { someMessage: texts[0]!.id, someChat: contactOf(contactFor(from, count, size)) });
    const wanted = world.sent + texts.length;
    await Promise.all(
      texts.map((message) =>
        commitIntake(store.writer, path.receive(tenant.deviceId, tenant.number, [message])),
      ),
    );
    await until(() => world.sent >= wanted);
    // A receiver that is away for days is switched off, and what waits for long is given up: that part is of today.
    const days = world.receiverUp ? (DAYS - 1) / 2 : 0;
    year.moveOn((days * DAY_MS) / ((count - size.waitingDeliveries) / BATCH));
    if (from % (BATCH * 50) === 0)
      say(`${tenant.number}: ${from + texts.length} of ${count} messages answered`);
  }
  return some;
}

/** One after another; those whose events wait write several times, so that a chat has several that wait. */
function contactFor(at: number, count: number, { chats, waitingDeliveries }: Size): number {
  return at < count - waitingDeliveries
    ? at % chats
    : at % Math.max(1, waitingDeliveries / WAITING_IN_A_CHAT);
}

function incoming(at: number, text: string, contact: number, now: number): Incoming {
  const number = contactOf(contact);
  const place = { chat: jidOf(number), kind: "dm" as const, contact: { number, name: "Ana", lid: null } };
  return messageFrom(place, `YEAR${String(at).padStart(12, "0")}`, now, { text, raw: RAW });
}

/** Base64 of a protobuf message of ordinary length. */
const RAW = Buffer.from("a message of ordinary length, as people write them to shops").toString("base64");

async function fillSessions(store: Store, deviceId: number, count: number): Promise<void> {
  const { store: own } = beginTenure(store, deviceId);
  const auth = { store: own, deviceId, cache: createKeyCache().of(deviceId), onWriteFailed: () => undefined };
  const { keys } = await openAuthState(auth);
  for (let from = 0; from < count; from += BATCH) {
    const session = Object.fromEntries(
      Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => [
        `${contactOf(from + index)}.0`,
        sessionRecord(from + index),
      ]),
    );
    await keys.set({ session: session as never });
  }
}

/** As libsignal serializes a session after some turns: nobody decrypts with it. */
function sessionRecord(seed: number) {
  const key = (n: number): string => Buffer.alloc(33, seed + n).toString("base64");
  const chain = (n: number) => [
    key(n),
    { chainKey: { counter: n, key: key(n) }, chainType: 2, messageKeys: {} },
  ];
  const chains = Object.fromEntries([1, 2, 3, 4, 5].map(chain));
  const indexInfo = {
    baseKey: key(6),
    baseKeyType: 1,
    closed: -1,
    used: seed,
    created: seed,
    remoteIdentityKey: key(7),
  };
  const currentRatchet = { ephemeralKeyPair: { pubKey: key(8), privKey: key(9) }, rootKey: key(10) };
  return {
    version: "v1",
    _sessions: { [key(6)]: { registrationId: 1, currentRatchet, indexInfo, _chains: chains } },
  };
}

async function fillQueue(path: MessagePath, deviceId: number, count: number): Promise<void> {
  const each = 10;
  for (let from = 0; from < count; from += each) {
    const destinations = Array.from({ length: each }, (_, index) => {
      const number = contactOf(from + index);
      return { number, jid: jidOf(number) };
    });
    await path.submit({ deviceId, destinations, draft: { kind: "text", text: "A message that waits." } });
  }
}

async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 1));
}
