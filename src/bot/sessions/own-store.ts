import { lostInJson } from "../json.ts";
import { milliseconds } from "../duration.ts";
import type { StoreChanges, StoredEntry, StoreRows } from "./store-rows.ts";
import type { BotStore, KeepOptions, KeptEntry } from "../types/store.ts";

const LONGEST_KEY = 200;
const LARGEST_VALUE = 16_384;
/** For one message: more is a loop. */
const MOST_WRITTEN = 100;
/** Of one look. */
export const MOST_LISTED = 1_000;
const DEFAULT_LISTED = 100;

/** Where a store is read. */
export interface StoreReading {
  get(key: string): Promise<unknown>;
  /** What stands under keys that begin with this, in their order. */
  under(prefix: string, limit: number): Promise<KeptEntry[]>;
}

/** What is written into a store and is not there yet, by key; null: deleted. */
export type Written = Map<string, { value: unknown; ttlMs: number | null } | null>;

/**
 * A store as one handler sees it: what is there, and above it what the handler itself has written.
 *
 * @param call names it in errors: `ctx.store`
 * @param mayWrite throws when nothing may be written
 * @param onWrite told of each change
 */
export function storeView(
  call: string,
  reading: StoreReading,
  written: Written,
  mayWrite: (call: string) => void,
  onWrite: (key: string, entry: { value: unknown; options: KeepOptions } | null) => void = () => undefined,
): BotStore {
  function put(key: string, entry: { value: unknown; ttlMs: number | null } | null): void {
    if (!written.has(key) && written.size >= MOST_WRITTEN)
      throw new TypeError(`${call} takes at most ${MOST_WRITTEN} keys for one message.`);
    written.set(key, entry);
  }

  return {
    async get<T>(key: string) {
      readKey(key, `${call}.get`);
      const own = written.get(key);
      const value = own === undefined ? await reading.get(key) : (own?.value ?? null);
      return structuredClone(value) as T | null;
    },

    set(key, value, options = {}) {
      readKey(key, `${call}.set`);
      mayWrite(`${call}.set`);
      const ttlMs = options.ttl === undefined ? null : milliseconds(options.ttl, `${call}.set({ ttl })`);
      put(key, { value: readValue(value, call), ttlMs });
      onWrite(key, { value, options });
    },

    delete(key) {
      readKey(key, `${call}.delete`);
      mayWrite(`${call}.delete`);
      put(key, null);
      onWrite(key, null);
    },

    async list<T>(prefix = "", { limit = DEFAULT_LISTED }: { limit?: number } = {}) {
      if (typeof prefix !== "string" || prefix.length > LONGEST_KEY || !prefix.isWellFormed())
        throw new TypeError(`${call}.list() takes a prefix of keys, or nothing.`);
      if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED)
        throw new TypeError(
          `${call}.list({ limit }): the limit must be a whole number from 1 to ${MOST_LISTED}.`,
        );
      // As many more as may be deleted above it.
      const kept = await reading.under(prefix, limit + written.size);
      const all = new Map(kept.map(({ key, value }) => [key, value]));
      for (const [key, entry] of written) {
        if (entry === null) all.delete(key);
        else if (key.startsWith(prefix)) all.set(key, entry.value);
      }
      const entries = [...all].map(([key, value]) => ({ key, value: structuredClone(value) as T }));
      return entries
        .toSorted((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
        .slice(0, limit);
    },
  };
}

/** `ctx.store` of one handler, and what it comes to. */
export interface OwnStore {
  store: BotStore;
  changes: StoreChanges;
}

/** @param guard throws when nothing may be written any more, or not here */
export function openOwnStore(
  rows: Pick<StoreRows, "stored" | "storedFrom">,
  deviceId: number,
  bot: Parameters<StoreRows["stored"]>[1],
  guard: (call: string) => void,
): OwnStore {
  const seen = new Map<string, number>();
  const written: Written = new Map();
  /** What was read first counts: whatever the handler made of it was made of that. */
  const note = ({ key, value, revision }: StoredEntry): KeptEntry => {
    if (!seen.has(key)) seen.set(key, revision);
    return { key, value };
  };
  const reading: StoreReading = {
    get: async (key) => note(await rows.stored(deviceId, bot, key)).value,
    under: async (prefix, limit) =>
      (await rows.storedFrom(deviceId, bot, prefix, behind(prefix), limit)).map(note),
  };
  return { store: storeView("ctx.store", reading, written, guard), changes: { read: seen, written } };
}

function readKey(key: unknown, call: string): void {
  if (typeof key === "string" && key !== "" && key.length <= LONGEST_KEY && key.isWellFormed()) return;
  throw new TypeError(`${call}() needs a key of 1 to ${LONGEST_KEY} characters: "count/491700000001".`);
}

/** As it will be read: a copy, which nobody changes any more. */
function readValue(value: unknown, call: string): unknown {
  if (value === undefined || value === null)
    throw new TypeError(`${call}.set() needs a value; ${call}.delete(key) removes it.`);
  const lost = lostInJson(value);
  if (lost !== null) throw new TypeError(`${call}.set(): the value cannot be stored: ${lost}`);
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  if (bytes > LARGEST_VALUE)
    throw new TypeError(
      `${call}.set(): the value is ${bytes} bytes as JSON; the limit is ${LARGEST_VALUE} bytes.`,
    );
  return JSON.parse(json) as unknown;
}

const LAST = 0x10ffff;

/** The first text behind all that begin with this one; null when there is none. */
function behind(prefix: string): string | null {
  const points = [...prefix].map((sign) => sign.codePointAt(0)!);
  while (points.at(-1) === LAST) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  // Between them lie halves of signs, which are no text.
  points.push(last === 0xd7ff ? 0xe000 : last + 1);
  return String.fromCodePoint(...points);
}
