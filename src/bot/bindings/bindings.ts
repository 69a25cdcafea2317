import { defineTopic } from "../../model/nodes/cluster.ts";
import { NO_NEWS, type News } from "../../model/nodes/news.ts";
import { createSequence } from "../../model/shares/sequence.ts";
import type { Statement } from "../../model/statement.ts";
import type { SafeFetch } from "../../net/safe-fetch.ts";
import type { Store } from "../../store/store.ts";
import { readBindings, readChanges, refuseConfigs, type Binding } from "./binding-input.ts";
import { BINDINGS, fromRow, insert, OF_NUMBER } from "./binding-rows.ts";
import { unknownSettings } from "./config-schema.ts";
import { findConflicts, type Conflict } from "../routes/conflicts.ts";
import { byTodaysName } from "../sessions/former-names.ts";
import type { Blocking } from "../handlers/blocking.ts";
import { withBlocked, type BotRecord, type BotRegistry } from "../files/registry.ts";
import { listRoutes, type ListedRoute, type RouteTable } from "../routes/table.ts";
import { createTables, type Bound } from "./tables.ts";

/** What holds on this number is something else now. */
const BOUND = defineTopic<{ deviceId: number }>("bindings");

/** One bot with what holds of it on one number. `priority` is the one in force. */
export interface BoundBot extends BotRecord {
  enabled: boolean;
  config: Record<string, unknown> | null;
}

/** Which bots answer at which number, with their priority and settings there. */
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
   * @throws {GatewayError} INVALID_PARAMETERS with the fields, for instance an unknown id; URL_NOT_ALLOWED
   */
  put(deviceId: number, input: unknown): Promise<BoundBot[]>;
  /**
   * Changes what is said of the bots that are listed and leaves the others as they are, at once in force. A bot of which
   * nothing was said so far begins with its own default.
   *
   * @param input `[{id, enabled?, priority?, config?}]`; `priority` and `config` null: the bot's own
   * @throws {GatewayError} INVALID_PARAMETERS with the fields, for instance settings that the bot's schema refuses; URL_NOT_ALLOWED
   */
  change(deviceId: number, input: unknown): Promise<BoundBot[]>;
  /** Other bots from now on: what runs ends with the old ones. */
  use(registry: BotRegistry): Promise<void>;
  /**
   * In which order the routes of a number are asked, and what in them works otherwise than it may look.
   *
   * @param deviceId null: of a number of which nothing is said
   */
  routes(deviceId: number | null): { routes: ListedRoute[]; conflicts: Conflict[] };
  /** Forgets a number that was erased. */
  forget(deviceId: number): void;
}

/** What is known elsewhere: which bots hold everybody up, and where requests may go. */
interface Around extends Pick<Blocking, "of"> {
  /** @throws {OutboundError} `not_allowed` */
  checkUrl: SafeFetch["check"];
}

const NOTHING_SAID: ReadonlyMap<string, Binding> = new Map();

/** Rows of `bot_bindings`, and the table of routes that follows from them for every number. */
export function createBindings(
  store: Pick<Store, "read" | "pages" | "box" | "writer">,
  first: BotRegistry,
  onProblem: (text: string) => void,
  around: Around = { of: () => null, checkUrl: async () => undefined },
  news: News = NO_NEWS,
): Bindings {
  let bound: Bound = new Map();
  let registry = first;
  const tables = createTables(onProblem);
  /** Tables that are built while bindings change would show what held before. */
  const inTurn = createSequence();
  async function load(): Promise<void> {
    bound = await readAll(store);
    await tables.rebuild(bound, registry);
  }

  /** Another node has changed them, and may have removed them all. */
  async function readAgain(deviceId: number): Promise<void> {
    const bindings = await rowsOf(store, deviceId);
    if (bindings.size === 0) return forget(deviceId);
    bound.set(deviceId, bindings);
    await tables.put(deviceId, bindings, registry);
  }

  news.listen(BOUND, {
    hear: ({ deviceId }) => inTurn(() => readAgain(deviceId)),
    reread: () => inTurn(load),
  });

  const list = (deviceId: number): BoundBot[] =>
    listBots(registry, byTodaysName(bound.get(deviceId) ?? NOTHING_SAID, registry.renamed), around);

  async function replace(
    deviceId: number,
    bindings: Binding[],
    checked = bindings,
    isSaid?: (id: string) => boolean,
  ): Promise<BoundBot[]> {
    await refuseConfigs(checked, registry, around.checkUrl, isSaid);
    await store.writer.commit([
      ...rowsInstead(store.box, deviceId, bindings),
      ...news.of(BOUND, { deviceId }),
    ]);
    const byId = new Map(bindings.map((binding) => [binding.id, binding]));
    bound.set(deviceId, byId);
    await tables.put(deviceId, byId, registry);
    return list(deviceId);
  }

  const change = (deviceId: number, input: unknown): Promise<BoundBot[]> =>
    inTurn(async () => {
      // From the rows: another node may have changed them in this moment.
      const now = byTodaysName(await rowsOf(store, deviceId), registry.renamed);
      const said = readChanges(input, registry);
      const changed = said.map((one) => ({ ...(now.get(one.id) ?? unsaid(registry, one.id)), ...one }));
      const isSaid = (id: string): boolean => said.some((one) => one.id === id && one.config != null);
      return replace(deviceId, merged(now, changed), changed, isSaid);
    });

  function forget(deviceId: number): void {
    bound.delete(deviceId);
    tables.forget(deviceId);
  }

  return {
    load,
    tableOf: tables.of,
    list,
    put: (deviceId, input) => inTurn(async () => replace(deviceId, readBindings(input, registry))),
    change,
    use: (next) =>
      inTurn(async () => {
        registry = next;
        await tables.begin(bound, registry);
      }),
    routes: (deviceId) => routesOf(tables.of(deviceId)),
    forget,
  };
}

const routesOf = ({ active }: RouteTable) => ({
  routes: listRoutes(active),
  conflicts: findConflicts(active),
});

const merged = (now: ReadonlyMap<string, Binding>, changed: Binding[]): Binding[] => [
  ...new Map([...now, ...changed.map((binding) => [binding.id, binding] as const)]).values(),
];

type Rows = Pick<Store, "read" | "pages" | "box">;

async function readAll(store: Rows): Promise<Bound> {
  const read = new Map<number, Map<string, Binding>>();
  for await (const page of store.pages(BINDINGS, (row) => [row?.deviceId ?? 0, row?.botId ?? ""]))
    for (const row of page) {
      const { deviceId } = row;
      read.set(
        deviceId,
        (read.get(deviceId) ?? new Map<string, Binding>()).set(row.botId, fromRow(store.box, row)),
      );
    }
  return read;
}

async function rowsOf(store: Rows, deviceId: number): Promise<Map<string, Binding>> {
  const rows = await store.read(OF_NUMBER, [deviceId]);
  return new Map(rows.map((row) => [row.botId, fromRow(store.box, row)]));
}

const rowsInstead = (box: Rows["box"], deviceId: number, bindings: Binding[]): Statement[] => [
  { sql: "delete from bot_bindings where device_id = ?", args: [deviceId] },
  ...bindings.map((binding) => insert(box, deviceId, binding)),
];

/** A bot of which nothing has been said at a number. */
function unsaid(registry: BotRegistry, id: string): Binding {
  const enabled = registry.list().find((bot) => bot.id === id)?.enable === "all";
  return { id, enabled, priority: null, config: null };
}

/** All bots as they are at a number. */
function listBots(
  registry: BotRegistry,
  bindings: ReadonlyMap<string, Binding>,
  around: Pick<Around, "of">,
): BoundBot[] {
  const records = registry.list();
  // A second file with the same id is no bot of its own.
  const bots = records.filter(({ id }, index) => records.findIndex((other) => other.id === id) === index);
  return bots.map((bot) => {
    const binding = bindings.get(bot.id);
    const lacking = (bot.needs ?? []).filter((key) => binding?.config?.[key] === undefined);
    const warnings = !binding?.enabled
      ? bot.warnings
      : [
          ...bot.warnings,
          ...(lacking.length > 0
            ? [`The bot does not run on this number: its config has no ${lacking.join(", ")}.`]
            : []),
          ...unknownSettings(bot.schema, binding.config ?? {}).map((problem) => `config ${problem}`),
        ];
    return {
      ...withBlocked(bot, around),
      warnings,
      enabled: (bot.error === undefined || bot.kept === true) && (binding?.enabled ?? bot.enable === "all"),
      priority: binding?.priority ?? bot.priority,
      config: binding?.config ?? null,
    };
  });
}
