import { mediaKeys } from "../../model/media/media-keys.ts";
import type { GivenFile } from "../../model/media/media.ts";
import type { Files } from "../files.ts";
import { decrypted } from "../incoming-cipher.ts";
import { sealAll } from "../seal.ts";
import type { Shares } from "../../model/shares/shares.ts";

/** Whose file comes, and how. */
export interface Arrival {
  /** Whose share it takes. */
  account: string;
  /** What it is called; "" when nobody says. */
  fileName: string;
  /** Bytes of the request that it comes with, when they are known: refused at once when it cannot fit. */
  announced: number | null;
  /** Ends it. */
  signal: AbortSignal;
}

interface IntakeDeps {
  files: Pick<Files, "workspace">;
  turns: Shares;
  maxBytes: number;
  /** What a larger file is refused with. */
  tooLarge(): Error;
}

/** What stands around a file in its request is far less. */
const MOST_AROUND_BYTES = 2 * 1024 * 1024;

/**
 * Takes files as they come, encrypted before they reach the disk, each in a folder that ends with its request; after a crash,
 * with the next start.
 */
export function createIntake({ files, turns, maxBytes, tooLarge }: IntakeDeps) {
  async function* upToMost(chunks: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
    let size = 0;
    for await (const chunk of chunks) {
      signal.throwIfAborted();
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      yield chunk;
    }
  }

  return async (
    chunks: AsyncIterable<Buffer>,
    { account, fileName, announced, signal }: Arrival,
  ): Promise<GivenFile> => {
    if (announced !== null && announced > maxBytes + MOST_AROUND_BYTES) throw tooLarge();
    const workspace = await files.workspace();
    const path = workspace.path("given");
    try {
      const take = (): ReturnType<typeof sealAll> => sealAll(path, "document", upToMost(chunks, signal));
      const { mediaKey, sha256 } = await turns(account, take, signal);
      const keys = mediaKeys(Buffer.from(mediaKey, "base64"), "document");
      return {
        fileName,
        sha256,
        open: () => decrypted(path, keys, Buffer.from(sha256, "base64")),
        dispose: workspace.dispose,
      };
    } catch (error) {
      await workspace.dispose();
      throw error;
    }
  };
}
