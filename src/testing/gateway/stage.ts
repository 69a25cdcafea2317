import { readLocales, type Locales } from "../../bot/files/locales.ts";
import type { BotRegistry } from "../../bot/files/registry.ts";
import { createLogger, type Logger } from "../../log.ts";
import { bindingsFor, checkSettings, readBots } from "./bots.ts";
import { createClock, type Clock } from "./clock.ts";
import { downloadFromStubs } from "../network/download.ts";
import { createFailures } from "../failures.ts";
import { createFolder, removeFolder } from "./folder.ts";
import type { CrashPlan } from "./life.ts";
import { guardNetwork } from "../network/network.ts";
import type { DeployOptions, TestBots, TestChatOptions } from "../options.ts";
import { startReceiver, type Receiver } from "../network/receiver.ts";
import { createRooms, type Rooms } from "../chats/room.ts";
import { DEVICE, openRun, type Run } from "./run.ts";
import { readStart, refuseUnknown, settingsOf } from "./settings.ts";
import { createStubs, type Stubs } from "../chats/stubs.ts";
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
  /** See `TestChat`. */
  deploy(bots: TestBots, options?: DeployOptions): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** @param plan asked before each commit once everything stands */
export async function buildStage(
  firstBots: TestBots,
  options: TestChatOptions,
  plan: CrashPlan,
): Promise<Stage> {
  refuseUnknown(options);
  const { log, complaints } = listen(options);
  const code = { bots: firstBots, locales: localesOf(options) };
  const clock = createClock(readStart(options.now));
  const rooms = createRooms();
  const wire = createWire(rooms.sent);
  const stubs = createStubs();
  const failures = createFailures(options.allowErrors === true, stubs.isBlocked);
  const { number: ownNumber = "491700000001", patienceMs = 30_000 } = options;
  const folder = await createFolder(log);
  const config = settingsOf(folder, options);
  const unguard = guardNetwork(stubs);
  const lasting = { config, log, clock, wire, ownNumber, download: downloadFromStubs, failures };
  let receiver: Receiver | null = null;
  let botIds: string[] = [];
  let stands = false;
  /** Settings that came with the code and are not stored yet; null: none did. */
  let arriving: { config: Record<string, unknown> | undefined } | null = { config: options.config };
  let wrongInTest: Error | null = null;

  async function open(onEnd: () => void) {
    const registry = await readBots(code.bots, log);
    const known = botIds;
    botIds = registry.bots.map(({ id }) => id);
    const run = await openRun({
      ...lasting,
      registry,
      locales: code.locales,
      plan: (statements) => (stands && arriving === null ? plan(statements) : null),
      onEnd,
    });
    if (arriving !== null) await bind(run, registry, known, arriving.config);
    if (receiver !== null && !stands) await run.path.webhooks.put(DEVICE, { url: receiver.url });
    arriving = null;
    return run;
  }

  async function deploy(bots: TestBots, { config, locales }: DeployOptions = {}): Promise<void> {
    await world.settle(null);
    // Before anything ends: what cannot be used takes nothing down.
    await checkBots(bots, config, log);
    code.bots = bots;
    if (locales !== undefined) code.locales = localesOf({ locales });
    arriving = { config };
    await world.kill();
    await world.settle(null);
  }

  const tidy = async (): Promise<void> => {
    await receiver?.close();
    unguard();
    removeFolder(folder);
  };

  let world: World;
  try {
    receiver = await receiverOf(options, stubs, (error) => void (wrongInTest ??= error));
    const problem = () => stubs.takeBlocked() ?? wrongInTest ?? failures.take();
    world = createWorld({ clock, wire, ownNumber, patienceMs, problem, open });
    await world.run();
  } catch (error) {
    await tidy();
    throw error;
  }
  stands = true;
  let closing: Promise<void> | null = null;
  const shown = { wire, rooms, clock, stubs, ownNumber, deploy };
  return {
    ...shown,
    world,
    botIds: () => botIds,
    complaints: () => complaints,
    close: () => (closing ??= world.close().then(tidy)),
  };
}

async function checkBots(bots: TestBots, config: DeployOptions["config"], log: Logger): Promise<void> {
  const registry = await readBots(bots, log);
  if (config !== undefined) await checkSettings(registry, config);
}

async function receiverOf(
  { webhook }: TestChatOptions,
  stubs: Stubs,
  onError: (error: Error) => void,
): Promise<Receiver | null> {
  if (webhook === undefined) return null;
  const receiver = await startReceiver(webhook, onError);
  stubs.ports.add(receiver.port);
  return receiver;
}

const localesOf = ({ locales }: DeployOptions): Locales => readLocales((locales ?? {}) as never).locales;

/** A log that keeps what was wrong. The folder of the test is not known yet, and it does not write there. */
function listen(options: TestChatOptions): { log: Logger; complaints: string[] } {
  const complaints: string[] = [];
  const write = (line: string): void => void complaints.push(readComplaint(line));
  return { log: createLogger(settingsOf("", options), { write }), complaints };
}

/** Switches on what is new, and gives each bot the settings that came with it. */
async function bind(
  { path }: Run,
  registry: BotRegistry,
  known: readonly string[],
  config: Record<string, unknown> | undefined,
): Promise<void> {
  if (config !== undefined) await checkSettings(registry, config);
  await path.bindings.load();
  const isNew = (id: string): boolean => config !== undefined || !known.includes(id);
  const bindings = bindingsFor(registry, config) as { id: string }[];
  await path.bindings.change(
    DEVICE,
    bindings.filter(({ id }) => isNew(id)),
  );
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
