import type { LRUCache } from "lru-cache";
import { z } from "zod";
import { createLru } from "../../model/lru.ts";

const READ = Symbol.for("parley.addresses");

/** Options of `url`. */
export interface UrlOptions {
  /** A part that the URL must contain, for instance `{order}`. */
  including?: string;
}

/** Longer addresses are refused by many servers. */
const LONGEST_URL = 2_048;
/**
 * Texts that were read as addresses of late; the value that a schema gives holds them. One for the process: a bot of
 * `BOTS_DIR` may import a copy of this module, and it is the gateway that asks.
 */
const shared = globalThis as { [READ]?: LRUCache<string, true> };
const read = (shared[READ] ??= createLru<string, true>(10_000));

/**
 * A complete http or https URL in a bot's `config`. Saving the settings checks it like the URL of a webhook: a URL that leads
 * into a private network is refused, unless `ALLOW_PRIVATE_NETWORK` permits it.
 *
 * @example config: z.object({ crmUrl: url().optional() })
 */
export function url({ including }: UrlOptions = {}): z.ZodType<string, string> {
  return z
    .string()
    .max(LONGEST_URL, `must be at most ${LONGEST_URL} characters`)
    .meta({ format: "uri" })
    .refine(isAddress, "must be a complete address that starts with http:// or https://")
    .refine((text) => including === undefined || text.includes(including), `needs ${including}`)
    .transform((text) => {
      read.set(text, true);
      return text;
    });
}

function isAddress(text: string): boolean {
  return /^https?:\/\/[^\s]/i.test(text) && URL.canParse(text);
}

/** How deep settings are looked through. */
const DEEPEST = 10;

/** The addresses in settings that a schema with `url()` has just read, and where each stands: `crm.url`. */
export function addressesIn(settings: unknown, path: readonly string[] = []): [path: string, url: string][] {
  if (typeof settings === "string") return read.has(settings) ? [[path.join("."), settings]] : [];
  if (typeof settings !== "object" || settings === null || path.length >= DEEPEST) return [];
  return Object.entries(settings).flatMap(([key, value]) => addressesIn(value, [...path, key]));
}
