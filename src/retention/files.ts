import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { inbox, mediaFiles, outbox } from "../../drizzle/schema.ts";
import type { Draft } from "../model/content/drafts.ts";
import { HOUR_MS } from "../model/time.ts";
import { defineQuery, integer } from "../store/query.ts";
import type { Store } from "../store/store.ts";

/** Time in which a file that was written gets its row, and a download or a conversion ends. */
const YOUNG_MS = HOUR_MS;
const AT_ONCE = 500;

/** What deleting files takes. */
export interface FilesDeps {
  store: Pick<Store, "read" | "pages" | "writer" | "now" | "clock" | "time">;
  dataDir: string;
  /** A message of the outbox; null when it is not known any more. */
  sentContent(deviceId: number, waId: string): Promise<Draft | null>;
}

/** Files beyond this disk, by names as in {@link removeFiles} within `media`. */
export interface StoredFiles {
  /** In the order of their names, a page at a time. */
  list(prefix: string, after: string | null): Promise<{ name: string; at: number }[]>;
  remove(name: string): Promise<void>;
}

/** A file may wait for its message's time for a year: it is as old as its upload, which is made when the message leaves. */
const EXPIRE = `delete from media_files where rowid in (select rowid from media_files
  where created_at < ?1 and coalesce(uploaded_at, 0) < ?1 and id not in (select value from json_each(?2)) limit ${AT_ONCE})`;

/** Parts of uploads are found among all files by what their ids begin with, not by their age. */
const EXPIRE_PARTS = `delete from media_files where rowid in (select rowid from media_files
  where id >= 'mu_' and id < 'mv' and +created_at < ? limit ${AT_ONCE})`;
/** Longer than the address of the last part of an upload that took an hour. */
const PARTS_KEPT_MS = 26 * HOUR_MS;

const WAITING_FILES = defineQuery(
  `select device_id, id, wa_id from outbox indexed by outbox_waiting
    where state = 'queued' and (device_id, id) > (?, ?) and kind not in ('text', 'poll') order by device_id, id limit ?`,
  { deviceId: outbox.deviceId, id: outbox.id, waId: outbox.waId },
);
/** What is to be sent later needs its file until then. */
const SCHEDULED_FILES = defineQuery(
  `select device_id, send_at AS sendAt, id, wa_id from outbox indexed by outbox_scheduled
    where state = 'scheduled' and (device_id, send_at, id) > (?, ?, ?) and kind not in ('text', 'poll')
    order by device_id, send_at, id limit ?`,
  { deviceId: outbox.deviceId, sendAt: integer(), id: outbox.id, waId: outbox.waId },
);
const behindInTime = (last: { deviceId: number; sendAt: number; id: number } | null): number[] => [
  last?.deviceId ?? 0,
  last?.sendAt ?? 0,
  last?.id ?? 0,
];
const behind = (last: { deviceId: number; id: number } | null): number[] => [
  last?.deviceId ?? 0,
  last?.id ?? 0,
];
const INBOX_NAMED = defineQuery(
  "select device_id, id from inbox where id in (select value from json_each(?))",
  { deviceId: inbox.deviceId, id: inbox.id },
);
const PATHS_NAMED = defineQuery("select path from media_files where id in (select value from json_each(?))", {
  path: mediaFiles.path,
});

/**
 * Rows of files that were sent before a time, unless a message that has not left still needs them.
 *
 * @returns how many
 */
export async function expireSentFiles(
  { store, sentContent }: FilesDeps,
  before: number,
  signal: AbortSignal,
): Promise<number> {
  const needed: string[] = [];
  const need = async (page: { deviceId: number; waId: string }[]): Promise<void> => {
    for (const { deviceId, waId } of page) {
      const draft = await sentContent(deviceId, waId);
      if (draft && "file" in draft) needed.push(draft.file);
    }
  };
  for await (const page of store.pages(WAITING_FILES, behind)) await need(page);
  for await (const page of store.pages(SCHEDULED_FILES, behindInTime)) await need(page);
  for (let expired = 0; ;) {
    if (signal.aborted) return expired;
    const [result] = await store.writer.commit([{ sql: EXPIRE, args: [before, JSON.stringify(needed)] }], {
      owning: null,
    });
    expired += result?.rowsAffected ?? 0;
    if ((result?.rowsAffected ?? 0) < AT_ONCE) return expired;
  }
}

/**
 * Rows of parts of files that were uploaded, and sent since or never.
 *
 * @returns how many
 */
export async function expireUploads({ store }: FilesDeps, signal: AbortSignal): Promise<number> {
  for (let expired = 0; ;) {
    if (signal.aborted) return expired;
    const args = [store.now() - PARTS_KEPT_MS];
    const [result] = await store.writer.commit([{ sql: EXPIRE_PARTS, args }], { owning: null });
    expired += result?.rowsAffected ?? 0;
    if ((result?.rowsAffected ?? 0) < AT_ONCE) return expired;
  }
}

/**
 * Removes files that no row names: their message or number is gone, or a crash came between file and row.
 *
 * @returns how many
 */
export async function removeFiles({ store, dataDir }: FilesDeps, signal: AbortSignal): Promise<number> {
  const media = join(dataDir, "media");
  const sweep = async (folder: string, named: Named): Promise<number> => {
    let removed = 0;
    for await (const path of unnamed(folder, named, store.now() - YOUNG_MS)) {
      if (signal.aborted) break;
      await rm(path, { force: true, recursive: true });
      removed += 1;
    }
    return removed;
  };
  return (
    (await sweep(join(media, "in"), (names) => namesInInbox(store, names))) +
    (await sweep(media, (names) => namesInMediaFiles(store, names))) +
    (await sweep(join(dataDir, "tmp"), async () => []))
  );
}

/**
 * The same for the store that all nodes share: one of them does it.
 *
 * @returns how many
 */
export async function removeStored(
  { store }: Pick<FilesDeps, "store">,
  stored: StoredFiles,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let after: string | null = null; !signal.aborted;) {
    const page = await stored.list("", after);
    if (page.length === 0) break;
    after = page.at(-1)!.name;
    const received = page.flatMap(({ name }) => /^in\/(.+)$/.exec(name)?.[1] ?? []);
    const kept = new Set([
      ...(await namesInInbox(store, received)).map((name) => `in/${name}`),
      ...(await namesInMediaFiles(
        store,
        page.map(({ name }) => name),
      )),
    ]);
    const old = page.filter(({ name, at }) => !kept.has(name) && at < store.now() - YOUNG_MS);
    for (const { name } of old) {
      await stored.remove(name);
      removed += 1;
    }
  }
  return removed;
}

/** Those of some names that a row names. */
type Named = (names: string[]) => Promise<string[]>;

async function* unnamed(folder: string, named: Named, before: number): AsyncGenerator<string> {
  const entries = await readdir(folder).catch(() => []);
  for (let from = 0; from < entries.length; from += AT_ONCE) {
    const some = entries.slice(from, from + AT_ONCE);
    const kept = new Set(await named(some));
    for (const name of some.filter((entry) => !kept.has(entry))) {
      const path = join(folder, name);
      // What is gone meanwhile needs no removing.
      const found = await stat(path).catch(() => null);
      if (found !== null && found.mtimeMs < before) yield path;
    }
  }
}

/** A file that came in is called `<device>-<inbox id>`. */
async function namesInInbox(store: FilesDeps["store"], names: string[]): Promise<string[]> {
  const ids = names.flatMap((name) => /^\d+-(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  const rows = await store.read(INBOX_NAMED, [JSON.stringify(ids)]);
  return rows.map(({ deviceId, id }) => `${deviceId}-${id}`);
}

async function namesInMediaFiles(store: FilesDeps["store"], names: string[]): Promise<string[]> {
  // A file has its row's id for a name.
  const rows = await store.read(PATHS_NAMED, [JSON.stringify(names)]);
  const known = new Set(rows.map(({ path }) => path));
  return [...names.filter((name) => known.has(join("media", name))), "in"];
}
