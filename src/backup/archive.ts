import { create, extract, replace } from "tar";
import { MASTER_KEY_FILE } from "../store/secrets.ts";
import { MANIFEST } from "./manifest.ts";

const NAMES = /^(manifest\.json|parley\.db|master-key|media|media\/mf_[0-9a-f]{24})\/?$/;

/** A tar archive of files in a folder, the manifest first, as it is read: nothing is held in memory. */
export function pack(folder: string, paths: string[]): AsyncIterable<Uint8Array> {
  return create({ cwd: folder, portable: true, strict: true }, [MANIFEST, ...paths]);
}

/** Adds the master key to an archive that is complete. @param folder where the key's file lies */
export async function addMasterKey(archive: string, folder: string): Promise<void> {
  await replace({ file: archive, cwd: folder, portable: true, strict: true }, [MASTER_KEY_FILE]);
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
