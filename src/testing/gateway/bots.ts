import { readBindings, refuseConfigs } from "../../bot/bindings/binding-input.ts";
import { createRegistry, type BotRegistry } from "../../bot/files/registry.ts";
import type { Logger } from "../../log.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import type { TestBots } from "../options.ts";

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

/** @throws {GatewayError} that names each field which a bot's schema refuses; {TypeError} for settings of bots that there are not */
export async function checkSettings(registry: BotRegistry, config: Record<string, unknown>): Promise<void> {
  const ids = registry.bots.map(({ id }) => id);
  const strangers = ids.length === 1 ? [] : Object.keys(config).filter((id) => !ids.includes(id));
  if (strangers.length > 0)
    throw new TypeError(
      `config: ${strangers.join(", ")} is none of the bots. With several bots it is { "<id>": { … } }, and they are: ${ids.join(", ")}.`,
    );
  await namingFields(() =>
    refuseConfigs(readBindings(bindingsFor(registry, config), registry), registry, async () => undefined),
  );
}

/** Errors of the interface keep what is wrong beside their message: a test shows nothing but the message. */
async function namingFields<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.details.fields === undefined) throw error;
    throw new GatewayError(error.code, Object.values(error.details.fields).flat().join("\n"), error.details);
  }
}
