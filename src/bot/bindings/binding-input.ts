import { GatewayError } from "../../model/errors/errors.ts";
import type { BotRegistry } from "../files/registry.ts";
import { OutboundError } from "../../net/errors.ts";
import { configSchemaOf, EVERY_BOTS, unknownSettings } from "./config-schema.ts";
import { readHandback, readLocale } from "../routes/options.ts";
import { addressesIn } from "./url.ts";
import { validate } from "../standard-schema.ts";
import type { Bot } from "../types.ts";

/** What `PUT /devices/{number}/bots` says of one bot on one number. */
export interface Binding {
  id: string;
  enabled: boolean;
  /** Null: the bot's own. */
  priority: number | null;
  /** Null: none. */
  config: Record<string, unknown> | null;
}

/** A binding of which only some things are said. */
export type BindingChange = Pick<Binding, "id"> & Partial<Binding>;

/** @throws {GatewayError} INVALID_PARAMETERS with everything that is wrong */
export function readBindings(input: unknown, registry: BotRegistry): Binding[] {
  return readEach(input, registry, "{id, enabled, priority?, config?}", (item) => {
    const { id, enabled, priority = null, config = null } = item;
    if (typeof enabled !== "boolean") return `Bot "${id}": enabled must be true or false.`;
    return { id, enabled, priority, config } as Binding;
  });
}

/** @throws {GatewayError} INVALID_PARAMETERS with everything that is wrong */
export function readChanges(input: unknown, registry: BotRegistry): BindingChange[] {
  return readEach(input, registry, "{id, enabled?, priority?, config?}", (item) => {
    const { id, enabled, priority, config } = item;
    if (enabled !== undefined && typeof enabled !== "boolean")
      return `Bot "${id}": enabled must be true or false.`;
    const said = Object.entries({ id, enabled, priority, config }).filter(([, value]) => value !== undefined);
    return Object.fromEntries(said) as unknown as BindingChange;
  });
}

function readEach<T extends { id: string }>(
  input: unknown,
  registry: BotRegistry,
  shape: string,
  read: (item: Record<string, unknown> & { id: string }) => T | string,
): T[] {
  if (!Array.isArray(input)) throw invalid([`bots must be a list of ${shape}.`]);
  const problems: string[] = [];
  const found = new Map<string, T>();
  for (const item of input as unknown[]) {
    const entry = isObject(item)
      ? (commonProblem(item, registry) ?? read(item as { id: string }))
      : `Each entry must be an object ${shape}.`;
    if (typeof entry === "string") problems.push(entry);
    else if (found.has(entry.id)) problems.push(`Bot "${entry.id}" is listed twice.`);
    else found.set(entry.id, entry);
  }
  if (problems.length > 0) throw invalid(problems);
  return [...found.values()];
}

function commonProblem(item: Record<string, unknown>, registry: BotRegistry): string | null {
  const { id, priority = null, config = null } = item;
  if (typeof id !== "string" || !registry.has(id))
    return `Unknown bot ${JSON.stringify(id) ?? "without id"}. GET /bots lists them.`;
  if (
    priority !== null &&
    !(Number.isInteger(priority) && Number(priority) >= 0 && Number(priority) <= 100)
  ) {
    return `Bot "${id}": priority must be a whole number from 0 (asked first) to 100 (asked last).`;
  }
  return config !== null && !isObject(config) ? `Bot "${id}": config must be an object.` : null;
}

/**
 * The settings of a number as the bot's own schema reads them. Those that every bot has are read here, unless the schema has
 * them as its own: most schemas would drop them.
 */
export async function readConfig(
  bot: Pick<Bot, "config">,
  config: Record<string, unknown>,
): Promise<{ value: Record<string, unknown> } | { problems: string[] }> {
  if (bot.config === null) return { value: config };
  const own = configSchemaOf(bot.config)?.["properties"] ?? {};
  const common = EVERY_BOTS.filter((key) => !Object.hasOwn(own, key) && config[key] !== undefined);
  const rest = Object.fromEntries(
    Object.entries(config).filter(([key]) => !(common as string[]).includes(key)),
  );
  const read = await validate(bot.config, rest);
  const problems = [
    ...common.flatMap((key) => commonSetting(key, config[key])),
    ...("problems" in read ? read.problems : []),
  ];
  if (problems.length > 0 || "problems" in read) return { problems };
  const values = Object.fromEntries(common.map((key) => [key, config[key]]));
  return { value: { ...values, ...(read.value as Record<string, unknown>) } };
}

/** What is wrong with a setting that every bot has. */
function commonSetting(key: (typeof EVERY_BOTS)[number], value: unknown): string[] {
  try {
    if (key === "handback") readHandback(value);
    else readLocale(value);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/**
 * @param isSaid whether the settings of a bot are written now: what was saved before a bot forgot a setting stays
 * @throws {GatewayError} INVALID_PARAMETERS when the schema of a bot that is on refuses its settings, or does not know one;
 *   URL_NOT_ALLOWED
 */
export async function refuseConfigs(
  bindings: readonly Binding[],
  registry: BotRegistry,
  checkUrl: (url: string) => Promise<void>,
  isSaid: (id: string) => boolean = () => true,
): Promise<void> {
  const problems: string[] = [];
  const addresses: { place: string; url: string }[] = [];
  for (const { id, enabled, config } of bindings) {
    const bot = registry.bots.find((known) => known.id === id);
    if (!bot || !enabled) continue;
    if (config !== null && isSaid(id))
      problems.push(
        ...unknownSettings(configSchemaOf(bot.config), config)
          .slice(0, MOST_UNKNOWN)
          .map((problem) => `Bot "${id}": config ${problem}`),
      );
    const read = await readConfig(bot, config ?? {});
    if ("problems" in read)
      problems.push(...read.problems.map((problem) => `Bot "${id}": config ${problem}`));
    else
      for (const [path, url] of addressesIn(read.value))
        addresses.push({ place: `Bot "${id}": config ${path}`, url });
  }
  if (problems.length > 0) throw invalid(problems);
  if (addresses.length > MOST_ADDRESSES)
    throw invalid([
      `config may contain at most ${MOST_ADDRESSES} addresses in one request; this request has ${addresses.length}.`,
    ]);
  await refuseAddresses(addresses, checkUrl);
}

/** Of one bot. */
const MOST_UNKNOWN = 20;
/** Each is looked up: nobody may let the gateway ask for thousands of names. */
const MOST_ADDRESSES = 50;

async function refuseAddresses(
  addresses: readonly { place: string; url: string }[],
  checkUrl: (url: string) => Promise<void>,
): Promise<void> {
  const problems: string[] = [];
  for (const { place, url } of addresses)
    await checkUrl(url).catch((error: unknown) => {
      if (!(error instanceof OutboundError)) throw error;
      problems.push(`${place}: ${error.message}`);
    });
  if (problems.length > 0)
    throw new GatewayError("URL_NOT_ALLOWED", problems[0]!, { fields: { bots: problems } });
}

function invalid(problems: string[]): GatewayError {
  return new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields: { bots: problems } });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
