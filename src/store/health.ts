import { statfs } from "node:fs/promises";
import type { Store } from "./store.ts";

/** With less free space than this, receipts could soon be given for what cannot be stored. */
const LEAST_FREE_BYTES = 16 * 1024 * 1024;
const PATIENCE_MS = 2_000;

/** Whether the database takes a write now, and the disk of `DATA_DIR` has room. */
export async function checkStorage(
  store: Store,
  dataDir: string,
): Promise<{ database: boolean; disk: boolean }> {
  const [database, disk] = await Promise.all([canWrite(store), hasRoom(dataDir)]);
  return { database, disk };
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
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), PATIENCE_MS);
  });
  return Promise.race([probe, tooLong]).finally(() => clearTimeout(timer));
}

async function hasRoom(dataDir: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize >= LEAST_FREE_BYTES;
}
