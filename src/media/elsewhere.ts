import { rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { mediaFiles } from "../../drizzle/schema.ts";
import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import type { Statement } from "../model/statement.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { FileDamaged, type Intake } from "./incoming-cipher.ts";
import { MediaStoreAway, type MediaStore } from "./media-store.ts";
import type { Peers } from "./peers.ts";
import { exists, writeWhole } from "./whole-file.ts";

/**
 * Files of messages beyond this disk: in a store that all nodes share, or on the disks of other nodes. A file's name is its path
 * within `media`, on every disk and in the store. This disk has what was written here and what was brought here; for a
 * process that is alone, without a store, that is everything.
 */
export interface Elsewhere {
  /** Where a file has its place on this disk. */
  pathOf(name: string): string;
  /** Whether it lies on this disk. */
  isHere(name: string): Promise<boolean>;
  /**
   * Makes sure that a file lies on this disk: it may have to be brought.
   *
   * @param intake a new one for each attempt; proves that what comes is right
   * @returns false when nobody has it any more
   * @throws {GatewayError} UNAVAILABLE with `retryAfter`: whoever has it cannot be asked now
   */
  find(name: string, intake: () => Intake): Promise<boolean>;
  /**
   * Puts a file of this disk where all nodes find it. A store that is away gets it later.
   *
   * @param sha256 of its bytes, base64, when it is known
   * @returns the node that has it, for its row; null when no node has to be asked for it
   */
  shelve(name: string, sha256?: string): Promise<string | null>;
  /** The same for a received file, which has a row only while a node has to be asked for it. Never rejects. */
  shelveReceived(deviceId: number, name: string): Promise<void>;
  /** Resolves when what is being shelved under this name is. */
  shelved(name: string): Promise<void>;
  /** Removes it from this disk and from the store. A store that is away keeps it until it is found without a row. */
  remove(name: string): Promise<void>;
}

/** What files beyond this disk take. */
export interface ElsewhereDeps {
  store: Pick<Store, "read" | "readOne" | "writer" | "box" | "now">;
  dataDir: string;
  log: Logger;
  /** Null: there is none. */
  media: MediaStore | null;
  /** Null: this process is alone. */
  peers: Peers | null;
}

const NODE_OF = defineQuery("SELECT node FROM media_files WHERE id = ?", { node: mediaFiles.node });
const NOTE = `INSERT INTO media_files (id, device_id, path, node, meta, created_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET node = coalesce(excluded.node, node)`;

/** How long somebody should wait who asks for what cannot be had now. */
const RETRY_AFTER_S = 10;

/** Without store and peers every file is here or nowhere, and nothing else is looked at. */
export function createElsewhere({ store, dataDir, log, media, peers }: ElsewhereDeps): Elsewhere {
  const bringing = new Map<string, Promise<boolean>>();
  const shelving = new Map<string, Promise<void>>();
  const shelf = createShelf(media, log);
  const pathOf = (name: string): string => join(dataDir, "media", name);

  async function isHere(name: string): Promise<boolean> {
    if (!(await exists(pathOf(name)))) return false;
    // What is used stays on the disk for a while longer.
    if (media !== null) await utimes(pathOf(name), new Date(), new Date()).catch(() => undefined);
    return true;
  }

  async function fromNode(name: string, write: Write): Promise<Brought> {
    const row = peers === null ? null : await store.readOne(NODE_OF, [name]);
    if (peers === null || !row?.node || row.node === peers.node) return "missing";
    const outcome = await peers.bring(row.node, name, write);
    return outcome === "gone" ? "missing" : outcome;
  }

  async function bring(name: string, intake: () => Intake): Promise<boolean> {
    const write: Write = (bytes) => writeWhole(pathOf(name), bytes, intake());
    let isAway = false;
    for (const from of [shelf.get, fromNode]) {
      const outcome = await from(name, write).catch((error: unknown) => {
        if (!(error instanceof FileDamaged)) throw error;
        log.error({ err: error, file: name }, "a file copied from another node or the store is damaged");
        return "missing";
      });
      if (outcome === "brought") return true;
      isAway ||= outcome === "away";
    }
    if (isAway) throw away();
    return false;
  }

  async function shelve(name: string, sha256?: string): Promise<string | null> {
    return (await shelf.put(name, pathOf(name), sha256)) ? null : (peers?.node ?? null);
  }

  async function noteReceived(deviceId: number, name: string): Promise<void> {
    const node = await shelve(name);
    if (node === null) return;
    await store.writer.commit([noteOf(store, deviceId, name, node)]);
  }

  return {
    pathOf,
    isHere,
    shelve,

    async find(name, intake) {
      if (await isHere(name)) return true;
      if (media === null && peers === null) return false;
      return once(bringing, name, () => bring(name, intake));
    },

    async shelveReceived(deviceId, name) {
      if (media === null && peers === null) return;
      await once(shelving, name, () =>
        noteReceived(deviceId, name).catch((error: unknown) =>
          log.warn({ err: error, file: name }, "could not put a received file where other nodes find it"),
        ),
      );
    },

    async shelved(name) {
      await shelving.get(name);
    },

    async remove(name) {
      await rm(pathOf(name), { force: true });
      await shelf.remove(name);
    },
  };
}

/** The row of a received file that lies on the disk of a node; where it has one, its node alone is changed. */
export function noteOf(
  { box, now }: Pick<Store, "box" | "now">,
  deviceId: number,
  name: string,
  node: string | null,
): Statement {
  const meta = box.sealJson({}, `media:${name}:meta`);
  return { sql: NOTE, args: [name, deviceId, join("media", name), node, meta, now()] };
}

type Write = (bytes: AsyncIterable<Buffer>) => Promise<void>;

type Brought = "brought" | "missing" | "away";

/** The store of `MEDIA_STORE`, or none. Says once that it is away, and once that it is back. */
function createShelf(media: MediaStore | null, log: Logger) {
  let isAway = false;

  /** @returns "away" when the store does not answer */
  async function tried<T>(work: Promise<T>): Promise<T | "away"> {
    try {
      const done = await work;
      if (isAway) log.info("the store of MEDIA_STORE is available again");
      isAway = false;
      return done;
    } catch (error) {
      if (!(error instanceof MediaStoreAway)) throw error;
      if (!isAway)
        log.warn(
          { err: error },
          "the store of MEDIA_STORE is unavailable: files stay on this disk until it is back",
        );
      isAway = true;
      return "away";
    }
  }

  return {
    async get(name: string, write: Write): Promise<Brought> {
      const found = media !== null && (await tried(media.get(name, write)));
      if (found === "away") return found;
      return found ? "brought" : "missing";
    },
    /** @returns whether it is there */
    async put(name: string, path: string, sha256?: string): Promise<boolean> {
      return media !== null && (await tried(media.put(name, path, sha256))) !== "away";
    },
    async remove(name: string): Promise<void> {
      if (media !== null) await tried(media.remove(name));
    },
  };
}

function once<T>(running: Map<string, Promise<T>>, name: string, work: () => Promise<T>): Promise<T> {
  const known = running.get(name);
  if (known !== undefined) return known;
  const begun = work().finally(() => running.delete(name));
  running.set(name, begun);
  return begun;
}

const away = (): GatewayError =>
  new GatewayError("UNAVAILABLE", "The place that has the file does not answer at the moment; try again.", {
    retryAfter: RETRY_AFTER_S,
  });
