import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

/** Paths in an archive: what it holds, the database, and the folder of files that wait to be sent. */
export const MANIFEST = "manifest.json";
export const DATABASE = "parley.db";
export const MEDIA = "media";

/** Of the archive's layout; a reader refuses a later one. */
const FORMAT = 1;
/** Hashed in one go. */
const CHUNK_BYTES = 64 * 1024;

const manifest = z.object({
  format: z.literal(FORMAT),
  /** Version of the Parley that made it. */
  version: z.string(),
  /** The instant that the database shows, ISO 8601 UTC. */
  created_at: z.iso.datetime(),
  /** Every file but this one: path in the archive, bytes, SHA-256 in hex. */
  files: z.array(
    z.object({
      path: z.string().regex(/^(parley\.db|media\/mf_[0-9a-f]{24})$/),
      bytes: z.number().int().nonnegative(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});

/** What stands first in an archive. */
export type Manifest = z.infer<typeof manifest>;

/** @param folder where the files lie under their paths */
export async function describeFiles(
  folder: string,
  paths: string[],
  version: string,
  createdAt: number,
): Promise<Manifest> {
  const files = [];
  for (const path of paths) files.push({ path, ...(await fingerprint(join(folder, path))) });
  return { format: FORMAT, version, created_at: new Date(createdAt).toISOString(), files };
}

/** @throws Error in words for the operator when it is none */
export function parseManifest(text: string): Manifest {
  const json = safely(() => JSON.parse(text) as { format?: unknown });
  if (typeof json?.format === "number" && json.format > FORMAT)
    throw new Error("The backup was made by a newer Parley; restore it with that version.");
  const parsed = manifest.safeParse(json);
  if (!parsed.success)
    throw new Error("The file is not a backup of Parley, or it is damaged: no usable manifest.");
  return parsed.data;
}

/** @throws Error that names the first file that is missing or not what the manifest says */
export async function checkFiles(folder: string, { files }: Manifest): Promise<void> {
  for (const { path, bytes, sha256 } of files) {
    const found = await fingerprint(join(folder, path)).catch(() => null);
    if (found === null) throw new Error(`The backup is incomplete: ${path} is missing.`);
    if (found.bytes !== bytes || found.sha256 !== sha256)
      throw new Error(`The backup is damaged: ${path} differs from what was saved.`);
  }
}

/** Read into the same bytes again and again: a stream makes new ones each time, and a database has gigabytes. */
async function fingerprint(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const file = await open(path, "r");
  try {
    for (let bytes = 0; ;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES);
      if (bytesRead === 0) return { bytes, sha256: hash.digest("hex") };
      hash.update(chunk.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}

function safely<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
