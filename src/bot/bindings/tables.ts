import { giveWay } from "../../model/give-way.ts";
import type { BotRegistry } from "../files/registry.ts";
import { findConflicts } from "../routes/conflicts.ts";
import { buildTable, type ActiveBot, type RouteTable } from "../routes/table.ts";
import { byTodaysName } from "../sessions/former-names.ts";
import { readConfig, type Binding } from "./binding-input.ts";

/** What is bound at each number, by bot. */
export type Bound = Map<number, ReadonlyMap<string, Binding>>;

/** The routes in force at every number. */
export interface Tables {
  of(deviceId: number | null): RouteTable;
  put(deviceId: number, bindings: ReadonlyMap<string, Binding>, registry: BotRegistry): Promise<void>;
  /** All anew; until they are made, the old ones are in force. */
  rebuild(bound: Bound, registry: BotRegistry): Promise<void>;
  /** The same with other bots, of which nothing has been reported. */
  begin(bound: Bound, registry: BotRegistry): Promise<void>;
  forget(deviceId: number): void;
}

/** @param onProblem told once of each conflict, and of settings that do not fit */
export function createTables(onProblem: (text: string) => void): Tables {
  const tables = new Map<number, RouteTable>();
  const none = new Map<string, Binding>();
  let defaults = buildTable([]);
  /** Conflicts that were reported: most numbers have the same bots. */
  const said = new Set<string>();

  async function tableFor(
    bindings: ReadonlyMap<string, Binding>,
    registry: BotRegistry,
  ): Promise<RouteTable> {
    const active = await activeBots(registry, byTodaysName(bindings, registry.renamed), onProblem);
    for (const { text } of findConflicts(active)) {
      if (!said.has(text)) onProblem(text);
      said.add(text);
    }
    return buildTable(active);
  }

  async function rebuild(bound: Bound, registry: BotRegistry): Promise<void> {
    const built: [number, RouteTable][] = [];
    for (const [deviceId, bindings] of bound) {
      built.push([deviceId, await tableFor(bindings, registry)]);
      // There may be tens of thousands of numbers, and messages arrive meanwhile: they find the old tables.
      await giveWay();
    }
    defaults = await tableFor(none, registry);
    tables.clear();
    // A number may have been erased meanwhile.
    for (const [deviceId, table] of built) if (bound.has(deviceId)) tables.set(deviceId, table);
  }

  return {
    of: (deviceId) => (deviceId === null ? defaults : (tables.get(deviceId) ?? defaults)),
    async put(deviceId, bindings, registry) {
      tables.set(deviceId, await tableFor(bindings, registry));
    },
    rebuild,
    begin(bound, registry) {
      said.clear();
      return rebuild(bound, registry);
    },
    forget: (deviceId) => void tables.delete(deviceId),
  };
}

/** A bot whose settings its schema refuses is off on that number: it could only go wrong. */
async function activeBots(
  registry: BotRegistry,
  bindings: ReadonlyMap<string, Binding>,
  onProblem: (text: string) => void,
): Promise<ActiveBot[]> {
  const wanted = registry.bots.filter((bot) => bindings.get(bot.id)?.enabled ?? bot.enable === "all");
  const active = await Promise.all(
    wanted.map(async (bot): Promise<ActiveBot[]> => {
      const binding = bindings.get(bot.id);
      const read = await readConfig(bot, binding?.config ?? {});
      if ("problems" in read) {
        onProblem(
          `Bot "${bot.id}" is off at numbers where its config does not fit: ${read.problems.join("; ")}`,
        );
        return [];
      }
      const config = Object.freeze({ ...read.value });
      if (bot.needs.some((key) => config[key] === undefined)) return [];
      return [{ bot, priority: binding?.priority ?? bot.priority, config }];
    }),
  );
  return active.flat();
}
