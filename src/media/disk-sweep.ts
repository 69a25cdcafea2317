import { opendir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { inbox, mediaFiles } from "../../drizzle/schema.ts";
import { giveWay } from "../model/give-way.ts";
import { HOUR_MS, MINUTE_MS, type Cancel } from "../model/time.ts";
import type { Statement } from "../model/statement.ts";
import { defineQuery } from "../store/query.ts";
import { type ElsewhereDeps, noteOf } from "./elsewhere.ts";
import { isFileName } from "./links.ts";
import { MediaStoreAway } from "./media-store.ts";

/** Looks through the files of this disk now and again, where there are other disks or a store. */
export interface DiskSweep {
  /** Runs now and every ten minutes; alone without a store never. */
  start(): void;
  /** One run. */
  run(): Promise<void>;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
}

interface DiskSweepDeps extends Omit<ElsewhereDeps, "store"> {
  store: Pick<ElsewhereDeps["store"], "read" | "writer" | "box" | "now"> & {
    time: { every(ms: number, run: () => void): Cancel };
  };
}

const EVERY_MS = 10 * MINUTE_MS;
const AT_ONCE = 200;
/** A file that the store has stays so long on this disk, for those who may still want it. */
const KEPT_HERE_MS = HOUR_MS;

const KNOWN_OUT = defineQuery("SELECT id FROM media_files WHERE id IN (SELECT value FROM json_each(?))", {
  id: mediaFiles.id,
});
const KNOWN_IN = defineQuery("SELECT device_id, id FROM inbox WHERE id IN (SELECT value FROM json_each(?))", {
  deviceId: inbox.deviceId,
  id: inbox.id,
});
const IN_STORE = "UPDATE media_files SET node = NULL WHERE id = ? AND node IS NOT NULL";
/** Not from a node that runs: that one has it too. */
const CLAIM = `UPDATE media_files SET node = ?1 WHERE id IN (SELECT value FROM json_each(?2))
AND (node IS NULL OR node NOT IN (SELECT value FROM json_each(?3)))`;

/** One folder of files, and which of its names are still those of messages. */
interface Folder {
  /** What names within `media` begin with. */
  prefix: string;
  known(names: string[]): Promise<string[]>;
}

/**
 * With a store: puts there what it lacks (it was away, or this was one process without a store before), and removes from this
 * disk what it has and nobody has used for an hour. Without one: tells the other nodes what lies here, under whatever
 * name this node ran before.
 */
export function createDiskSweep({ store, dataDir, log, media, peers }: DiskSweepDeps): DiskSweep {
  const stopping = new AbortController();
  let end: Cancel | null = null;
  let running: Promise<void> | null = null;

  const folders: Folder[] = [
    {
      prefix: "",
      known: async (names) => (await store.read(KNOWN_OUT, [JSON.stringify(names)])).map(({ id }) => id),
    },
    {
      prefix: "in/",
      async known(names) {
        const ids = names.map((name) => Number(name.split("-")[1]));
        const rows = await store.read(KNOWN_IN, [JSON.stringify(ids)]);
        const known = new Set(rows.map(({ deviceId, id }) => `in/${deviceId}-${id}`));
        return names.filter((name) => known.has(name));
      },
    },
  ];

  async function toStore(name: string): Promise<void> {
    if (media === null) return;
    const path = join(dataDir, "media", name);
    if (!(await media.has(name))) await media.put(name, path);
    await store.writer.commit([{ sql: IN_STORE, args: [name] }]);
    const found = await stat(path).catch(() => null);
    if (found !== null && found.mtimeMs < store.now() - KEPT_HERE_MS) await rm(path, { force: true });
  }

  async function claim(names: string[]): Promise<void> {
    if (peers === null) return;
    const nodes = await peers.running();
    const received = names.filter((name) => name.startsWith("in/"));
    const notes = received.map((name): Statement => noteOf(store, deviceOf(name), name, null));
    await store.writer.commit([
      // Received files have no row of their own while nobody else has to be told where they lie.
      ...notes,
      { sql: CLAIM, args: [peers.node, JSON.stringify(names), nodes] },
    ]);
  }

  async function sweep(): Promise<void> {
    for (const { prefix, known } of folders)
      for await (const names of pagesOf(join(dataDir, "media", prefix), prefix)) {
        const kept = await known(names);
        if (media === null && kept.length > 0) await claim(kept);
        for (const name of media === null ? [] : kept) {
          if (stopping.signal.aborted) return;
          await toStore(name);
        }
        await giveWay();
      }
  }

  function run(): Promise<void> {
    running ??= sweep()
      .catch((error: unknown) => {
        if (error instanceof MediaStoreAway)
          log.warn({ err: error }, "files on this disk wait for the store of MEDIA_STORE");
        else log.error({ err: error }, "could not look through the files on this disk; trying again later");
      })
      .finally(() => (running = null));
    return running;
  }

  return {
    start() {
      if (media === null && peers === null) return;
      end ??= store.time.every(EVERY_MS, () => void run());
      void run();
    },
    run,
    async stop() {
      end?.();
      stopping.abort();
      await running;
    },
  };
}

const deviceOf = (name: string): number => Number(/^in\/(\d+)-/.exec(name)![1]);

/** Names of whole files, some at a time. */
async function* pagesOf(folder: string, prefix: string): AsyncGenerator<string[]> {
  const entries = await opendir(folder).catch(() => null);
  if (entries === null) return;
  let names: string[] = [];
  for await (const entry of entries) {
    if (isFileName(prefix + entry.name)) names.push(prefix + entry.name);
    if (names.length < AT_ONCE) continue;
    yield names;
    names = [];
  }
  if (names.length > 0) yield names;
}
