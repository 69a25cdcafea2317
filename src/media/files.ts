import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { mediaFiles } from "../../drizzle/schema.ts";
import type { FileFacts, OutgoingFile, OutgoingFiles, Upload, UploadTarget } from "../model/media/media.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { Elsewhere } from "./elsewhere.ts";
import { readSealed, sealedLength } from "./seal.ts";
import { hashedIntake } from "./whole-file.ts";

/** Where files lie: encrypted ones to be sent in `media`, what is being worked on in `tmp`. */
export interface Files extends OutgoingFiles {
  /** A folder for one request; nothing of it stays. */
  workspace(): Promise<Workspace>;
  /**
   * Moves an encrypted file to where it stays, and stores what is known of it.
   *
   * @param kind what its id begins with: `mf` of what is sent (default), `mu` of a part of an upload, which is kept for a day
   * @returns its id
   */
  keep(deviceId: number, path: string, facts: FileFacts, kind?: "mf" | "mu"): Promise<string>;
  /** The same under a known id, in the place of what had it. */
  keepAs(id: string, deviceId: number, path: string, facts: FileFacts): Promise<void>;
}

/** A folder of one request: paths in it, and an end that deletes it with everything inside. */
export interface Workspace {
  path(name: string): string;
  dispose(): Promise<void>;
}

/** Only this user may look into the folders. */
const PRIVATE_FOLDER = 0o700;
const INSERT =
  "INSERT INTO media_files (id, device_id, path, node, meta, created_at) VALUES (?, ?, ?, ?, ?, ?)";
const REPLACE = `${INSERT} ON CONFLICT (id) DO UPDATE SET node = excluded.node, meta = excluded.meta,
upload = NULL, uploaded_at = NULL, created_at = excluded.created_at`;
const SELECT = defineQuery("SELECT meta, upload FROM media_files WHERE id = ?", {
  meta: mediaFiles.meta,
  upload: mediaFiles.upload,
});
const UPLOADED = "UPDATE media_files SET upload = ?, uploaded_at = ? WHERE id = ?";

type Uploads = Partial<Record<UploadTarget, Upload>>;

interface Put {
  sql: string;
  id: string;
  deviceId: number;
  path: string;
  facts: FileFacts;
}

/** What an earlier run has left in `tmp` is removed: files may lie there in the clear. */
export function createFiles(store: Store, dataDir: string, elsewhere: Elsewhere): Files {
  const kept = join(dataDir, "media");
  const temporary = join(dataDir, "tmp");
  rmSync(temporary, { recursive: true, force: true });
  for (const folder of [kept, temporary]) mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });

  async function read(id: string): Promise<{ facts: FileFacts; uploads: Uploads } | null> {
    const kept = await keptFileOf(store, id);
    if (kept === null) return null;
    const { facts, upload } = kept;
    const uploads = upload === null ? {} : store.box.openJson<Uploads>(upload, sealContext(id, "upload"));
    return { facts, uploads };
  }

  async function put({ sql, id, deviceId, path, facts }: Put): Promise<void> {
    await rename(path, elsewhere.pathOf(id));
    const meta = store.box.sealJson(facts, sealContext(id, "meta"));
    try {
      const node = await elsewhere.shelve(id, facts.encSha256);
      const args = [id, deviceId, join("media", id), node, meta, store.now()];
      await store.writer.commit([{ sql, args }]);
    } catch (error) {
      await elsewhere.remove(id);
      throw error;
    }
  }

  return {
    async workspace() {
      const folder = join(temporary, randomBytes(9).toString("hex"));
      await mkdir(folder, { mode: PRIVATE_FOLDER });
      return {
        path: (name) => join(folder, name),
        dispose: () => rm(folder, { recursive: true, force: true }),
      };
    },

    async keep(deviceId, path, facts, kind = "mf") {
      const id = `${kind}_${randomBytes(12).toString("hex")}`;
      await put({ sql: INSERT, id, deviceId, path, facts });
      return id;
    },

    keepAs: (id, deviceId, path, facts) => put({ sql: REPLACE, id, deviceId, path, facts }),

    async load(id) {
      const found = await read(id);
      return found && outgoing(id, elsewhere, found);
    },

    async remember(id, target, upload) {
      const found = await read(id);
      if (found === null) return;
      const sealed = store.box.sealJson({ ...found.uploads, [target]: upload }, sealContext(id, "upload"));
      await store.writer.commit([{ sql: UPLOADED, args: [sealed, upload.at, id] }]);
    },
  };
}

function outgoing(
  id: string,
  elsewhere: Elsewhere,
  { facts, uploads }: { facts: FileFacts; uploads: Uploads },
): OutgoingFile {
  const path = elsewhere.pathOf(id);
  return {
    id,
    facts,
    ready: () => elsewhere.find(id, () => hashedIntake(facts.encSha256)),
    uploaded: (target) => uploads[target] ?? null,
    content: (target) =>
      target === "channel"
        ? { bytes: readSealed(path, facts), length: facts.size, sha256: facts.sha256 }
        : { bytes: createReadStream(path), length: sealedLength(facts.size), sha256: facts.encSha256 },
  };
}

/**
 * What is known of one file that was sent, or is about to be.
 *
 * @returns `upload` sealed; null when it is not kept any more
 */
export async function keptFileOf(
  { readOne, box }: Pick<Store, "readOne" | "box">,
  id: string,
): Promise<{ facts: FileFacts; upload: Buffer | null } | null> {
  const row = await readOne(SELECT, [id]);
  if (row === null) return null;
  const { meta, upload } = row;
  return { facts: box.openJson<FileFacts>(meta, sealContext(id, "meta")), upload };
}

const FACTS = defineQuery("SELECT id, meta FROM media_files WHERE id IN (SELECT value FROM json_each(?))", {
  id: mediaFiles.id,
  meta: mediaFiles.meta,
});

/** What is known of files that were sent, by their ids; those that are not kept any more are missing. */
export async function factsOf(
  { read, box }: Pick<Store, "read" | "box">,
  ids: string[],
): Promise<Map<string, FileFacts>> {
  const rows = ids.length === 0 ? [] : await read(FACTS, [JSON.stringify(ids)]);
  return new Map(rows.map(({ id, meta }) => [id, box.openJson<FileFacts>(meta, sealContext(id, "meta"))]));
}

const sealContext = (id: string, name: string): string => `media:${id}:${name}`;
