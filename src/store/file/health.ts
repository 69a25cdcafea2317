import { freeBytes, LEAST_FREE_BYTES } from "./ballast.ts";
import type { StorageState } from "../condition.ts";
import { NOT_DURABLE } from "../server/durability.ts";
import type { Store } from "../store.ts";

const PATIENCE_MS = 2_000;

const AT_MOST_EVERY_MS = 1_000;

/** What `checkStorage` finds. */
export interface StorageHealth {
  database: boolean;
  disk: boolean;
  /** What is wrong, as anybody may read it; null: nothing is, or it is not known more closely. */
  reason: string | null;
}

const REASONS: Record<StorageState, string | null> = {
  good: null,
  full: "the disk is full",
  damaged: "the database is damaged",
  weak: NOT_DURABLE,
};

/** Anybody may ask, and an answer costs a commit: those who ask within a second get the same one. */
export function createStorageCheck(store: Store, dataDir: string): () => Promise<StorageHealth> {
  let last: { at: number; found: Promise<StorageHealth> } | null = null;
  return () => {
    const now = store.time.monotonic();
    // What has shown itself damaged since needs no further try.
    if (store.state === "damaged")
      return Promise.resolve({ database: false, disk: true, reason: REASONS.damaged });
    if (last === null || now - last.at >= AT_MOST_EVERY_MS)
      last = { at: now, found: checkStorage(store, dataDir) };
    return last.found;
  };
}

/** Whether the database takes a write now, and the disk of `DATA_DIR` has room. */
export async function checkStorage(store: Store, dataDir: string): Promise<StorageHealth> {
  const [database, disk] = await Promise.all([canWrite(store), hasRoom(store, dataDir)]);
  return { database, disk, reason: REASONS[store.state] };
}

async function canWrite(store: Store): Promise<boolean> {
  const probe = store.writer
    .commit([
      {
        sql: "insert into meta (key, value) values ('probe', ?) on conflict (key) do update set value = excluded.value",
        args: [String(store.now())],
      },
    ])
    .then(
      () => true,
      () => false,
    );
  return store.time.deadline(PATIENCE_MS, probe, () => new Error("late")).catch(() => false);
}

async function hasRoom(store: Store, dataDir: string): Promise<boolean> {
  return store.state !== "full" && (await freeBytes(dataDir)) >= LEAST_FREE_BYTES;
}
