import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** What is packed already, and what is too small to gain. */
const PACKED = /\.(?:png|jpe?g|webp|avif|gif|woff2?|br|gz)$/;
const LEAST_BYTES = 512;

/**
 * Puts `x.br` and `x.gz` beside every file `x` of a folder that they make smaller. Once for each build: the best that the two
 * can do takes longer than anybody who asks for a page should wait.
 */
export async function compressFolder(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || PACKED.test(entry.name)) continue;
    const content = await readFile(file);
    if (content.length < LEAST_BYTES) continue;
    const [br, gz] = await Promise.all([
      promisify(brotliCompress)(content, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
        },
      }),
      promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
    ]);
    if (br.length < content.length) await writeFile(`${file}.br`, br);
    if (gz.length < content.length) await writeFile(`${file}.gz`, gz);
  }
}
