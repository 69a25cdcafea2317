import { milliseconds, type Duration } from "../bot/duration.ts";
import { readLocales } from "../bot/locales.ts";
import { loadConfig } from "../config.ts";
import { createLogger } from "../log.ts";
import { createClock } from "./clock.ts";
import { createConversation, type Conversation } from "./conversation.ts";
import { downloadFromStubs } from "./download.ts";
import { createFolder, removeFolder } from "./folder.ts";
import { jidOf, type Contact, type Place } from "./incoming.ts";
import { guardNetwork, type Call, type Stub } from "./network.ts";
import { bindingsFor, readBots, type Harness, type TestBots, type TestChatOptions } from "./options.ts";
import { startReceiver } from "./receiver.ts";
import { createRooms } from "./room.ts";
import { DEVICE, openRun } from "./run.ts";
import { createStubs } from "./stubs.ts";
import { createWire } from "./wire.ts";
import { createWorld } from "./world.ts";

export interface GroupChat extends Conversation {
  /** A member of the group. */
  as(name: string): Conversation;
}

/** A person's chat with the bots, and everything around it. */
export interface TestChat extends Conversation, AsyncDisposable {
  /** Another person. Who is named for the second time is the same one. */
  as(contact: string | { name?: string; number?: string; lid?: string }): Conversation;
  /** A group; its first member is the one who writes unless another is named. */
  group(name: string, members: readonly string[]): GroupChat;
  /** Runs the script for so many people side by side. */
  parallel(
    count: number,
    script: (chat: Conversation, index: number) => Promise<unknown>,
  ): Promise<Conversation[]>;
  /** Answers requests of bots to this address (its beginning, or an expression). */
  stub(url: string | URL | RegExp, answer: Stub): void;
  /** What bots asked of stubs. */
  calls(): readonly Call[];
  /** Ends the process as `kill -9` does, and starts it again on the same database. */
  kill(): Promise<void>;
  /** Lets time pass, with everything that becomes due on the way. */
  advance(duration: Duration): Promise<void>;
  now(): Date;
  /** Transcripts of all chats, by address. */
  transcripts(): Record<string, string[]>;
  /** Resolves when nothing is under way anywhere. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const START = Date.UTC(2026, 0, 5, 10);
const FIRST_NUMBER = 491700000002;

/**
 * A chat with bots as the gateway runs them: the real path of a message on a real database in a temporary folder. Clock
 * and connection are the test's, and nothing reaches the network.
 */
export async function createTestChat(
  bots: TestBots,
  options: TestChatOptions = {},
  harness: Harness = { plan: () => null },
): Promise<TestChat> {
  const { number: ownNumber = "491700000001" } = options;
  const complaints: string[] = [];
  // The folder is not known yet, and the log does not write there.
  const log = createLogger(settingsOf("", options), {
    write: (line) => void complaints.push(readComplaint(line)),
  });
  const folder = await createFolder(log);
  const config = settingsOf(folder, options);
  const clock = createClock(new Date(options.now ?? START).getTime());
  const rooms = createRooms();
  const wire = createWire(rooms.sent);
  const stubs = createStubs();
  const unguard = guardNetwork(stubs);
  let problem: Error | null = null;
  const receiver =
    options.webhook === undefined
      ? null
      : await startReceiver(options.webhook, (error) => void (problem ??= error));
  if (receiver !== null) stubs.ports.add(receiver.port);
  const { locales } = readLocales((options.locales ?? {}) as never);
  let botIds: string[] = [];
  let isSetUp = false;

  const world = createWorld({
    clock,
    wire,
    ownNumber,
    patienceMs: options.patienceMs ?? 30_000,
    problem() {
      const found = stubs.takeBlocked() ?? problem;
      problem = null;
      return found;
    },
    async open(onEnd) {
      const registry = await readBots(bots, log);
      botIds = registry.bots.map(({ id }) => id);
      const run = await openRun({
        config,
        log,
        clock,
        wire,
        registry,
        locales,
        ownNumber,
        download: downloadFromStubs,
        plan: (statements) => (isSetUp ? harness.plan(statements) : null),
        onEnd,
      });
      if (isSetUp) return run;
      await run.bindings.put(DEVICE, bindingsFor(registry, options.config));
      if (receiver !== null) await run.webhooks.put(DEVICE, { url: receiver.url });
      return run;
    },
  });

  async function close(): Promise<void> {
    await world.close();
    await receiver?.close();
    unguard();
    removeFolder(folder);
  }

  const people = new Map<string, Contact>();
  const conversations = new Map<string, Conversation>();

  function person({ name, number, lid }: { name?: string; number?: string; lid?: string }): Contact {
    const key = name ?? number ?? "Ana";
    const known = people.get(key);
    if (known !== undefined) return known;
    const contact = {
      name: key,
      number: number ?? String(FIRST_NUMBER + people.size),
      lid: lid ?? null,
    };
    people.set(key, contact);
    return contact;
  }

  function talk(place: Place): Conversation {
    const key = `${place.chat} ${place.contact.number}`;
    const known = conversations.get(key);
    if (known !== undefined) return known;
    const conversation = createConversation({
      world,
      wire,
      clock,
      place,
      ownNumber,
      room: rooms.of(place.chat),
      get botIds() {
        return botIds;
      },
      complaints: () => complaints,
    });
    conversations.set(key, conversation);
    return conversation;
  }

  const direct = (contact: Contact): Conversation =>
    talk({ chat: jidOf(contact.number), kind: "dm", contact });

  function as(contact: Parameters<TestChat["as"]>[0]): Conversation {
    return direct(person(typeof contact === "string" ? { name: contact } : contact));
  }

  function group(name: string, members: readonly string[]): GroupChat {
    const chat = `${[...name].reduce((sum, letter) => sum * 31n + BigInt(letter.codePointAt(0)!), 120363n) % 10n ** 18n}@g.us`;
    const member = (who: string): Conversation => {
      if (!members.includes(who)) throw new Error(`${who} is not in the group "${name}".`);
      return talk({ chat, kind: "group", contact: person({ name: who }) });
    };
    if (members.length === 0) throw new Error("A group needs somebody who writes.");
    return { ...member(members[0]!), as: member };
  }

  const own = direct(person({ name: "Ana", ...options.contact }));
  try {
    await world.run();
  } catch (error) {
    await receiver?.close();
    unguard();
    removeFolder(folder);
    throw error;
  }
  isSetUp = true;

  return {
    ...own,
    as,
    group,
    async parallel(count, script) {
      const all = Array.from({ length: count }, (_, index) => as(`person ${index + 1}`));
      await Promise.all(all.map((chat, index) => script(chat, index)));
      return all;
    },
    stub: stubs.add,
    calls: () => stubs.calls,
    kill: world.kill,
    advance: (duration) => world.advance(milliseconds(duration, "chat.advance()")),
    now: () => new Date(clock.now()),
    transcripts: () => Object.fromEntries([...rooms.all()].map(([chat, { lines }]) => [chat, [...lines]])),
    settle: () => world.settle(null),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Sends are not paced: a test waits for nothing that it has not asked for. */
function settingsOf(folder: string, options: TestChatOptions) {
  const { botTimeoutMs = 30_000, takeoverMinutes = 30, loopGuardPerMinute = 0 } = options;
  return loadConfig({
    DATA_DIR: folder,
    LOG_LEVEL: "warn",
    PACE_PER_MINUTE: "0",
    ALLOW_PRIVATE_NETWORK: "1",
    BOT_TIMEOUT_MS: String(botTimeoutMs),
    TAKEOVER_MINUTES: String(takeoverMinutes),
    LOOP_GUARD_PER_MINUTE: String(loopGuardPerMinute),
  });
}

/** One line of the log, for people. */
function readComplaint(line: string): string {
  const { msg, error } = JSON.parse(line) as {
    msg: string;
    error?: { type?: string; message?: string } | string;
  };
  const detail = typeof error === "object" ? `${error.type ?? ""} ${error.message ?? ""}`.trim() : error;
  return detail ? `${msg}: ${detail}` : msg;
}
