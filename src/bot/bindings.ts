import { GatewayError } from "../model/errors.ts";
import type { Statement, Store } from "../store/store.ts";
import { findConflicts, type Conflict } from "./conflicts.ts";
import type { BotRecord, BotRegistry } from "./registry.ts";
import { validate } from "./standard-schema.ts";
import { buildTable, type ActiveBot, type RouteTable } from "./table.ts";
import type { Bot } from "./types.ts";

/** What `PUT /devices/{number}/bots` says of one bot on one number. */
export interface Binding {
  id: string;
  enabled: boolean;
  /** Null: the bot's own. */
  priority: number | null;
  /** Null: none. */
  config: Record<string, unknown> | null;
}

/** One bot with what holds of it on one number. `priority` is the one in force. */
export interface BoundBot extends BotRecord {
  enabled: boolean;
  config: Record<string, unknown> | null;
}

export interface Bindings {
  /** Reads all rows once. Call it before the first message. */
  load(): Promise<void>;
  /** The routes in force on a number; kept in memory. */
  tableOf(deviceId: number): RouteTable;
  /** Every bot with what holds on this number: what is bound, else the bot's own default. A broken bot is off. */
  list(deviceId: number): BoundBot[];
  /**
   * Replaces the bindings of a number, at once in force. Bots that are not listed have their default.
   *
   * @param input `[{id, enabled, priority?, config?}]`, `priority` 0–100
   * @throws {GatewayError} INVALID_PARAMETERS with the fields, for instance an unknown id
   */
  put(deviceId: number, input: unknown): Promise<BoundBot[]>;
  /** Other bots from now on: what runs ends with the old ones. */
  use(registry: BotRegistry): Promise<void>;
  /** What in the bots of a number works otherwise than it may look. */
  conflicts(deviceId: number): Conflict[];
  /** Forgets a number that was erased. */
  forget(deviceId: number): void;
}

/** Rows of `bot_bindings`, and the table of routes that follows from them for every number. */
export function createBindings(
  store: Store,
  first: BotRegistry,
  onProblem: (text: string) => void,
): Bindings {
  const bound = new Map<number, Map<string, Binding>>();
  const tables = new Map<number, RouteTable>();
  const none = new Map<string, Binding>();
  let registry = first;
  let defaults = buildTable([]);
  let last: Promise<unknown> = Promise.resolve();

  /** One change after the other: tables that are built while bindings change would show what held before. */
  function inTurn<T>(change: () => Promise<T>): Promise<T> {
    const turn = last.then(change);
    last = turn.catch(() => undefined);
    return turn;
  }

  async function load(): Promise<void> {
    const rows = await store.db.query.botBindings.findMany();
    bound.clear();
    for (const { deviceId, botId, enabled, priority, config } of rows) {
      const ofDevice = bound.get(deviceId) ?? new Map<string, Binding>();
      ofDevice.set(botId, { id: botId, enabled, priority, config: config ?? null });
      bound.set(deviceId, ofDevice);
    }
    await rebuild();
  }

  async function rebuild(): Promise<void> {
    const built = await Promise.all(
      [...bound].map(async ([deviceId, bindings]) => [deviceId, await tableFor(bindings)] as const),
    );
    defaults = await tableFor(none);
    tables.clear();
    for (const [deviceId, table] of built) tables.set(deviceId, table);
  }

  const tableFor = async (bindings: Map<string, Binding>): Promise<RouteTable> =>
    buildTable(await activeBots(registry, bindings, onProblem));

  const tableOf = (deviceId: number): RouteTable => tables.get(deviceId) ?? defaults;

  function list(deviceId: number): BoundBot[] {
    const bindings = bound.get(deviceId) ?? none;
    const records = registry.list();
    // A second file with the same id is no bot of its own.
    const bots = records.filter(({ id }, index) => records.findIndex((other) => other.id === id) === index);
    return bots.map((bot) => {
      const binding = bindings.get(bot.id);
      return {
        ...bot,
        enabled: (bot.error === undefined || bot.kept === true) && (binding?.enabled ?? bot.enable === "all"),
        priority: binding?.priority ?? bot.priority,
        config: binding?.config ?? null,
      };
    });
  }

  async function replace(deviceId: number, input: unknown): Promise<BoundBot[]> {
    const bindings = readBindings(input, registry);
    await refuseConfigs(bindings, registry);
    await store.writer.commit([
      { sql: "delete from bot_bindings where device_id = ?", args: [deviceId] },
      ...bindings.map((binding) => insert(deviceId, binding)),
    ]);
    const byId = new Map(bindings.map((binding) => [binding.id, binding]));
    bound.set(deviceId, byId);
    tables.set(deviceId, await tableFor(byId));
    return list(deviceId);
  }

  const put = (deviceId: number, input: unknown): Promise<BoundBot[]> =>
    inTurn(() => replace(deviceId, input));

  const use = (next: BotRegistry): Promise<void> =>
    inTurn(async () => {
      registry = next;
      await rebuild();
    });

  function forget(deviceId: number): void {
    bound.delete(deviceId);
    tables.delete(deviceId);
  }

  const conflicts = (deviceId: number): Conflict[] => findConflicts(tableOf(deviceId).active);

  return { load, tableOf, list, put, use, conflicts, forget };
}

/** A bot whose settings its schema refuses is off on that number: it could only go wrong. */
async function activeBots(
  registry: BotRegistry,
  bindings: Map<string, Binding>,
  onProblem: (text: string) => void,
): Promise<ActiveBot[]> {
  const wanted = registry.bots.filter((bot) => bindings.get(bot.id)?.enabled ?? bot.enable === "all");
  const active = await Promise.all(
    wanted.map(async (bot): Promise<ActiveBot[]> => {
      const binding = bindings.get(bot.id);
      const read = await readConfig(bot, binding?.config ?? {});
      if ("problems" in read) {
        onProblem(`Bot "${bot.id}" is off where its config does not fit: ${read.problems.join("; ")}`);
        return [];
      }
      return [{ bot, priority: binding?.priority ?? bot.priority, config: Object.freeze({ ...read.value }) }];
    }),
  );
  return active.flat();
}

async function readConfig(
  bot: Bot,
  config: Record<string, unknown>,
): Promise<{ value: Record<string, unknown> } | { problems: string[] }> {
  if (bot.config === null) return { value: config };
  const read = await validate(bot.config, config);
  return "problems" in read ? read : { value: read.value as Record<string, unknown> };
}

/** @throws {GatewayError} INVALID_PARAMETERS when a bot's schema refuses its settings */
async function refuseConfigs(bindings: Binding[], registry: BotRegistry): Promise<void> {
  const problems: string[] = [];
  for (const { id, enabled, config } of bindings) {
    const bot = registry.bots.find((known) => known.id === id);
    if (!bot || !enabled) continue;
    const read = await readConfig(bot, config ?? {});
    if ("problems" in read)
      problems.push(...read.problems.map((problem) => `Bot "${id}": config ${problem}`));
  }
  if (problems.length > 0) throw invalid(problems);
}

function insert(deviceId: number, { id, enabled, priority, config }: Binding): Statement {
  return {
    sql: "insert into bot_bindings (device_id, bot_id, enabled, priority, config) values (?, ?, ?, ?, ?)",
    args: [deviceId, id, enabled ? 1 : 0, priority, config && JSON.stringify(config)],
  };
}

function readBindings(input: unknown, registry: BotRegistry): Binding[] {
  const problems: string[] = [];
  const bindings = new Map<string, Binding>();
  if (!Array.isArray(input)) throw invalid(["bots must be a list of {id, enabled, priority?, config?}."]);
  for (const item of input as unknown[]) {
    const read = readBinding(item, registry);
    if (typeof read === "string") problems.push(read);
    else if (bindings.has(read.id)) problems.push(`Bot "${read.id}" is listed twice.`);
    else bindings.set(read.id, read);
  }
  if (problems.length > 0) throw invalid(problems);
  return [...bindings.values()];
}

function readBinding(item: unknown, registry: BotRegistry): Binding | string {
  if (!isObject(item)) return "Each entry must be an object {id, enabled, priority?, config?}.";
  const { id, enabled, priority = null, config = null } = item;
  if (typeof id !== "string" || !registry.has(id))
    return `Unknown bot ${JSON.stringify(id) ?? "without id"}. GET /bots lists them.`;
  if (typeof enabled !== "boolean") return `Bot "${id}": enabled must be true or false.`;
  if (
    priority !== null &&
    !(Number.isInteger(priority) && Number(priority) >= 0 && Number(priority) <= 100)
  ) {
    return `Bot "${id}": priority must be a whole number from 0 (asked first) to 100 (asked last).`;
  }
  if (config !== null && !isObject(config)) return `Bot "${id}": config must be an object.`;
  return { id, enabled, priority: priority as number | null, config };
}

function invalid(problems: string[]): GatewayError {
  return new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields: { bots: problems } });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
