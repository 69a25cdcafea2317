import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { mediaFiles } from "../../drizzle/schema.ts";
import type { FileFacts, OutgoingFile, OutgoingFiles, Upload, UploadTarget } from "../model/media.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { readSealed, sealedLength } from "./seal.ts";

/** Where files lie: encrypted ones to be sent in `media`, what is being worked on in `tmp`. */
export interface Files extends OutgoingFiles {
  /** A folder for one request; nothing of it stays. */
  workspace(): Promise<Workspace>;
  /** Moves an encrypted file to where it stays, and stores what is known of it. @returns its id */
  keep(deviceId: number, path: string, facts: FileFacts): Promise<string>;
}

/** A folder of one request: paths in it, and an end that deletes it with everything inside. */
export interface Workspace {
  path(name: string): string;
  dispose(): Promise<void>;
}

/** Only this user may look into the folders. */
const PRIVATE_FOLDER = 0o700;
const INSERT = "INSERT INTO media_files (id, device_id, path, meta, created_at) VALUES (?, ?, ?, ?, ?)";
const SELECT = defineQuery("SELECT path, meta, upload FROM media_files WHERE id = ?", {
  path: mediaFiles.path,
  meta: mediaFiles.meta,
  upload: mediaFiles.upload,
});
const UPLOADED = "UPDATE media_files SET upload = ?, uploaded_at = ? WHERE id = ?";

type Uploads = Partial<Record<UploadTarget, Upload>>;

/** What an earlier run has left in `tmp` is removed: files may lie there in the clear. */
export function createFiles(store: Store, dataDir: string): Files {
  const kept = join(dataDir, "media");
  const temporary = join(dataDir, "tmp");
  rmSync(temporary, { recursive: true, force: true });
  for (const folder of [kept, temporary]) mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });

  async function read(id: string): Promise<{ path: string; facts: FileFacts; uploads: Uploads } | null> {
    const kept = await keptFileOf(store, id);
    if (kept === null) return null;
    const { path, facts, upload } = kept;
    const uploads = upload === null ? {} : store.box.openJson<Uploads>(upload, sealContext(id, "upload"));
    return { path: join(dataDir, path), facts, uploads };
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

    async keep(deviceId, path, facts) {
      const id = `mf_${randomBytes(12).toString("hex")}`;
      const place = join("media", id);
      await rename(path, join(dataDir, place));
      const meta = store.box.sealJson(facts, sealContext(id, "meta"));
      try {
        await store.writer.commit([{ sql: INSERT, args: [id, deviceId, place, meta, store.now()] }]);
      } catch (error) {
        await rm(join(dataDir, place), { force: true });
        throw error;
      }
      return id;
    },

    async load(id) {
      const found = await read(id);
      if (found === null || (await stat(found.path).catch(() => null)) === null) return null;
      return outgoing(id, found);
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
  { path, facts, uploads }: { path: string; facts: FileFacts; uploads: Uploads },
): OutgoingFile {
  return {
    id,
    facts,
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
 * @returns `path` within `DATA_DIR`, `upload` sealed; null when it is not kept any more
 */
export async function keptFileOf(
  { readOne, box }: Pick<Store, "readOne" | "box">,
  id: string,
): Promise<{ path: string; facts: FileFacts; upload: Buffer | null } | null> {
  const row = await readOne(SELECT, [id]);
  if (row === null) return null;
  const { path, meta, upload } = row;
  return { path, facts: box.openJson<FileFacts>(meta, sealContext(id, "meta")), upload };
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
