import { LRUCache } from "lru-cache";
import { createGenerations } from "../generations.ts";
import { codecOf } from "./key-codec.ts";

const MAX_BYTES = 64 * 1024 * 1024;
/** What an entry costs beside its value: key, map node, object headers. */
const ENTRY_BYTES = 200;
/** An object costs up to twice the text that it is stored as: 64 MB of texts were 131 MB of heap. */
const OBJECT_WEIGHT = 2;

/** Keys share this many counters of changes: who shares one with a key that changes is read once more, and nothing worse. */
const CHANGE_COUNTERS = 8_192;

/** Known to be absent: it saves asking the database again. */
const ABSENT = Symbol("absent");
type Stored = string | Uint8Array;
interface Entry {
  /** The value itself for shared types, else its encoding. */
  held: unknown;
  bytes: number;
}

/** Values by type and id; null deletes. */
export type KeyChanges = Partial<Record<string, Record<string, unknown>>>;

/** Encoded values by type and id; null deletes. */
export type EncodedChanges = Record<string, Record<string, Stored | null>>;

/** Signal keys in memory; see `createKeyCache`. */
export interface KeyCache {
  /** A number's keys, until they are dropped: whoever holds on to them after that sees and changes what nobody else does. */
  of(deviceId: number): CachedKeys;
  /** Forgets everything of these numbers, what is being written and what is being read included. */
  drop(deviceIds: readonly number[]): void;
}

/** What memory knows of some keys, and what the database is to be asked for. */
export interface KeyReading {
  /** Absent keys are neither here nor in `missing`. */
  found: Record<string, unknown>;
  missing: string[];
  /** How often each of `missing` had changed by then. */
  changes: number[];
}

/** Signal keys of one number. */
export interface CachedKeys {
  /** What is known without the database. `fill` gets it back with what the database says of the others. */
  read(type: string, ids: string[]): KeyReading;
  /** One of them: null when it is known to be absent, undefined when it is not in memory. */
  peek(type: string, id: string): unknown;
  /**
   * Remembers what the database gave for what was missing; ids without a row are remembered as absent.
   *
   * @returns `overtaken`: changed during the read and in memory no more. What was read may be older than that: it must be read again.
   */
  fill(
    type: string,
    reading: Pick<KeyReading, "missing" | "changes">,
    rows: Map<string, Buffer>,
  ): { found: Record<string, unknown>; overtaken: string[] };
  /** Shows changes to readers at once. `committed` or `failed` must be called when it is known. */
  begin(changes: KeyChanges): { encoded: EncodedChanges; committed(): void; failed(): void };
}

/**
 * Signal keys in memory, for all numbers together: what is being written (always), and what was read or written last (at
 * most 64 MB). Pre-keys are not held: 812 of them are made when a number is linked, and each is used once.
 */
export function createKeyCache(maxBytes = MAX_BYTES): KeyCache {
  const recent = new LRUCache<string, Entry>({ maxSize: maxBytes, sizeCalculation: (entry) => entry.bytes });
  const pending = new Map<string, Entry>();
  const owners = createGenerations();
  const changed = new Uint32Array(CHANGE_COUNTERS);

  const keysOf = (owner: string): CachedKeys => ({
    read(type, ids) {
      const found: Record<string, unknown> = {};
      const missing: string[] = [];
      const changes: number[] = [];
      for (const id of ids) {
        const key = keyOf(owner, type, id);
        const entry = pending.get(key) ?? recent.get(key);
        if (entry !== undefined) show(type, id, entry, found);
        else {
          missing.push(id);
          changes.push(changed[counterOf(key)]!);
        }
      }
      return { found, missing, changes };
    },
    peek(type, id) {
      const key = keyOf(owner, type, id);
      const entry = pending.get(key) ?? recent.get(key);
      if (entry === undefined) return undefined;
      return entry.held === ABSENT ? null : valueOf(type, entry);
    },
    fill(type, { missing, changes }, rows) {
      const found: Record<string, unknown> = {};
      const overtaken: string[] = [];
      for (const [at, id] of missing.entries()) {
        const key = keyOf(owner, type, id);
        // Written while the database was read: what it gave is older.
        const newer = pending.get(key) ?? recent.get(key);
        if (newer === undefined && changed[counterOf(key)] !== changes[at]) {
          overtaken.push(id);
          continue;
        }
        const entry = newer ?? entryOf(type, rows.get(id) ?? null);
        if (newer === undefined && isHeld(type)) recent.set(key, entry);
        show(type, id, entry, found);
      }
      return { found, overtaken };
    },
    begin(changes) {
      const encoded: EncodedChanges = {};
      const written = new Map<string, Entry>();
      for (const [type, values] of Object.entries(changes)) {
        const ofType = (encoded[type] = {} as Record<string, Stored | null>);
        for (const [id, value] of Object.entries(values ?? {})) {
          const { entry, stored } = encode(type, value);
          ofType[id] = stored;
          const key = keyOf(owner, type, id);
          written.set(key, entry);
          pending.set(key, entry);
          changed[counterOf(key)]!++;
        }
      }
      return { encoded, ...settling(written, pending, recent) };
    },
  });

  return {
    of: (deviceId) => keysOf(owners.current(deviceId)),
    drop(deviceIds) {
      const dropped = owners.end(deviceIds);
      for (const held of [recent, pending])
        for (const key of held.keys()) if (dropped.has(ownerOf(key))) held.delete(key);
    },
  };
}

/** What is being written becomes what was written last, or is forgotten. */
function settling(
  written: ReadonlyMap<string, Entry>,
  pending: Map<string, Entry>,
  recent: LRUCache<string, Entry>,
): { committed(): void; failed(): void } {
  const end = (after: (key: string, entry: Entry) => void) => (): void => {
    for (const [key, entry] of written) {
      // A later write of the same key decides what is shown.
      if (pending.get(key) !== entry) continue;
      pending.delete(key);
      after(key, entry);
    }
  };
  return {
    committed: end((key, entry) => {
      if (isHeld(key.split(":")[1] ?? "")) recent.set(key, entry);
    }),
    failed: end((key) => void recent.delete(key)),
  };
}

function show(type: string, id: string, entry: Entry, found: Record<string, unknown>): void {
  if (entry.held !== ABSENT) found[id] = valueOf(type, entry);
}

function valueOf(type: string, { held }: Entry): unknown {
  const codec = codecOf(type);
  return codec.shared ? held : codec.decode(toBuffer(held as Stored));
}

const keyOf = (owner: string, type: string, id: string): string => `${owner}:${type}:${id}`;
const counterOf = (key: string): number => {
  let hash = 0;
  for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0;
  return (hash >>> 0) % CHANGE_COUNTERS;
};
const ownerOf = (key: string): string => key.slice(0, key.indexOf(":"));
const isHeld = (type: string): boolean => type !== "pre-key";
const toBuffer = (stored: Stored): Buffer =>
  typeof stored === "string"
    ? Buffer.from(stored)
    : Buffer.from(stored.buffer, stored.byteOffset, stored.length);

function entryOf(type: string, row: Buffer | null): Entry {
  if (row === null) return { held: ABSENT, bytes: ENTRY_BYTES };
  const codec = codecOf(type);
  return entryFor(codec.shared ? codec.decode(row) : row, row.length);
}

function encode(type: string, value: unknown): { entry: Entry; stored: Stored | null } {
  if (value === null || value === undefined) return { entry: entryOf(type, null), stored: null };
  const codec = codecOf(type);
  const kept = codec.prune ? codec.prune(value) : value;
  const stored = codec.encode(kept);
  return { entry: entryFor(codec.shared ? kept : stored, stored.length), stored };
}

function entryFor(held: unknown, length: number): Entry {
  const isObject = typeof held === "object" && !ArrayBuffer.isView(held);
  return { held, bytes: ENTRY_BYTES + (isObject ? OBJECT_WEIGHT : 1) * length };
}
