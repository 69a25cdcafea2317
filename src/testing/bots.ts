import { createRegistry, type BotRegistry } from "../bot/registry.ts";
import type { Logger } from "../log.ts";
import type { TestBots } from "./options.ts";

/** @throws {TypeError} when a bot is none */
export async function readBots(bots: TestBots, log: Logger): Promise<BotRegistry> {
  const given = typeof bots === "function" ? await bots() : bots;
  const named: [string, unknown][] = Array.isArray(given)
    ? given.map((bot: unknown, index) => [index === 0 ? "bot" : `bot${index + 1}`, bot])
    : Object.entries(given);
  if (named.length === 0) throw new TypeError("createTestChat needs a bot: createTestChat([bot]).");
  const registry = createRegistry(
    named.map(([id, exported]) => ({ id, file: id, exported })),
    log,
  );
  const broken = registry.list().find(({ error }) => error !== undefined);
  if (broken) throw new TypeError(`The bot "${broken.id}" cannot be used: ${broken.error}`);
  return registry;
}

/** What `PUT /devices/{number}/bots` would say: every bot is on, with its settings. */
export function bindingsFor({ bots }: BotRegistry, config: Record<string, unknown> | undefined): unknown[] {
  return bots.map(({ id }) => {
    const own = bots.length === 1 ? config : config?.[id];
    return { id, enabled: true, ...(own !== undefined && { config: own }) };
  });
}
