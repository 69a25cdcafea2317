import { readLocales } from "../bot/locales.ts";
import { loadConfig, type Config } from "../config.ts";
import { createLogger } from "../log.ts";
import { bindingsFor, readBots } from "./bots.ts";
import { createClock, type Clock } from "./clock.ts";
import { downloadFromStubs } from "./download.ts";
import { createFolder, removeFolder } from "./folder.ts";
import type { CrashPlan } from "./life.ts";
import { guardNetwork } from "./network.ts";
import type { TestBots, TestChatOptions } from "./options.ts";
import { startReceiver, type Receiver } from "./receiver.ts";
import { createRooms, type Rooms } from "./room.ts";
import { DEVICE, openRun } from "./run.ts";
import { createStubs, type Stubs } from "./stubs.ts";
import { createWire, type Wire } from "./wire.ts";
import { createWorld, type World } from "./world.ts";

/** All that a test chat stands on. */
export interface Stage {
  world: World;
  wire: Wire;
  rooms: Rooms;
  clock: Clock;
  stubs: Stubs;
  ownNumber: string;
  botIds(): readonly string[];
  /** What was logged as wrong. */
  complaints(): readonly string[];
  /** Idempotent. */
  close(): Promise<void>;
}

const START = Date.UTC(2026, 0, 5, 10);

/** @param plan asked before each commit once everything stands */
export async function buildStage(bots: TestBots, options: TestChatOptions, plan: CrashPlan): Promise<Stage> {
  const complaints: string[] = [];
  // The folder is not known yet, and the log does not write there.
  const log = createLogger(settingsOf("", options), {
    write: (line) => void complaints.push(readComplaint(line)),
  });
  const { locales } = readLocales((options.locales ?? {}) as never);
  const clock = createClock(readStart(options.now));
  const rooms = createRooms();
  const wire = createWire(rooms.sent);
  const stubs = createStubs();
  const { number: ownNumber = "491700000001", patienceMs = 30_000 } = options;
  const folder = await createFolder(log);
  const config = settingsOf(folder, options);
  const unguard = guardNetwork(stubs);
  let receiver: Receiver | null = null;
  let botIds: string[] = [];
  let stands = false;
  let wrongInTest: Error | null = null;

  async function open(onEnd: () => void) {
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
      plan: (statements) => (stands ? plan(statements) : null),
      onEnd,
    });
    if (stands) return run;
    await run.path.bindings.put(DEVICE, bindingsFor(registry, options.config));
    if (receiver !== null) await run.path.webhooks.put(DEVICE, { url: receiver.url });
    return run;
  }

  const tidy = async (): Promise<void> => {
    await receiver?.close();
    unguard();
    removeFolder(folder);
  };

  let world: World;
  try {
    if (options.webhook !== undefined) {
      receiver = await startReceiver(options.webhook, (error) => void (wrongInTest ??= error));
      stubs.ports.add(receiver.port);
    }
    const problem = () => stubs.takeBlocked() ?? wrongInTest;
    world = createWorld({ clock, wire, ownNumber, patienceMs, problem, open });
    await world.run();
  } catch (error) {
    await tidy();
    throw error;
  }
  stands = true;
  let closing: Promise<void> | null = null;
  return {
    world,
    wire,
    rooms,
    clock,
    stubs,
    ownNumber,
    botIds: () => botIds,
    complaints: () => complaints,
    close: () => (closing ??= world.close().then(tidy)),
  };
}

function readStart(now: TestChatOptions["now"]): number {
  const start = new Date(now ?? START).getTime();
  if (!Number.isFinite(start)) throw new TypeError(`now: ${JSON.stringify(now)} is no time.`);
  return start;
}

/** Sends are not paced: a test waits for nothing that it has not asked for. */
function settingsOf(folder: string, options: TestChatOptions): Config {
  const { botTimeoutMs = 30_000, takeoverMinutes = 30, loopGuardPerMinute = 0 } = options;
  return loadConfig({
    DATA_DIR: folder,
    LOG_LEVEL: "warn",
    STORE_THREAD: "off",
    PACE_PER_MINUTE: "0",
    ALLOW_PRIVATE_NETWORK: "1",
    BOT_TIMEOUT_MS: String(botTimeoutMs),
    TAKEOVER_MINUTES: String(takeoverMinutes),
    LOOP_GUARD_PER_MINUTE: String(loopGuardPerMinute),
  });
}

/** One line of the log, for people. */
function readComplaint(line: string): string {
  const { msg, err, error } = JSON.parse(line) as {
    msg: string;
    err?: { type?: string; message?: string };
    error?: string;
  };
  const detail = [err?.type, err?.message, error].filter((part) => part !== undefined).join(" ");
  return detail === "" ? msg : `${msg}: ${detail}`;
}
