import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { extract, Header, list, replace } from "tar";
import { MASTER_KEY_FILE } from "../store/sealed/secrets.ts";
import { MANIFEST, parseManifest, type Manifest } from "./manifest.ts";

const NAMES = /^(manifest\.json|parley\.db|master-key|media|media\/mf_[0-9a-f]{24})\/?$/;

const BLOCK_BYTES = 512;

/**
 * A tar archive of files in a folder, the manifest first, as it is read: nothing is held in memory, and whoever stops reading
 * leaves no file open.
 */
export async function* pack(folder: string, paths: string[]): AsyncGenerator<Uint8Array> {
  for (const path of [MANIFEST, ...paths]) {
    const { size, mtime } = await stat(join(folder, path));
    const block = Buffer.alloc(BLOCK_BYTES);
    new Header({ path, type: "File", mode: 0o600, size, mtime }).encode(block);
    yield block;
    for await (const chunk of createReadStream(join(folder, path))) yield chunk as Buffer;
    yield Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/** Adds the master key to an archive that is complete. @param folder where the key's file lies */
export async function addMasterKey(archive: string, folder: string): Promise<void> {
  await replace({ file: archive, cwd: folder, portable: true, strict: true }, [MASTER_KEY_FILE]);
}

/**
 * Reads a whole archive and compares it with its manifest, without unpacking it.
 *
 * @throws Error when it is cut off or damaged
 */
export async function verifyArchive(archive: string): Promise<Manifest> {
  const found = new Map<string, string>();
  let text = "";
  await list({
    file: archive,
    strict: true,
    onReadEntry(entry) {
      const hash = createHash("sha256");
      entry.on("data", (chunk) => {
        hash.update(chunk);
        if (entry.path === MANIFEST) text += chunk.toString("utf8");
      });
      entry.on("end", () => found.set(entry.path, hash.digest("hex")));
    },
  });
  const manifest = parseManifest(text);
  const wrong = manifest.files.find(({ path, sha256 }) => found.get(path) !== sha256);
  if (wrong) throw new Error(`The backup ${archive} is incomplete: ${wrong.path} is missing or damaged.`);
  return manifest;
}

/**
 * Unpacks what a backup may hold: plain files under names that are known, readable by this user alone.
 *
 * @throws Error when the archive is damaged, cut off, or holds something else
 */
export async function unpack(archive: string, folder: string): Promise<void> {
  let foreign: string | null = null;
  try {
    await extract({
      file: archive,
      cwd: folder,
      strict: true,
      preserveOwner: false,
      noChmod: true,
      noMtime: true,
      filter(path, entry) {
        const plain = "type" in entry && (entry.type === "File" || entry.type === "Directory");
        if (plain && NAMES.test(path)) return true;
        foreign ??= path;
        return false;
      },
    });
  } catch (error) {
    throw new Error(
      `The file ${archive} is not a backup of Parley, or it is damaged: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
  if (foreign !== null)
    throw new Error(`The file ${archive} is not a backup of Parley: it holds “${foreign}”.`);
}
