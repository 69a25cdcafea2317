import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import type { FileFacts } from "../model/media/media.ts";
import type { MediaKind } from "../model/messages.ts";
import { MAC_BYTES, mediaKeys } from "../model/media/media-keys.ts";

/** Key, hashes and size of a file that was written encrypted. */
export type SealedFile = Pick<FileFacts, "mediaKey" | "sha256" | "encSha256" | "size">;

/** Writes a file as WhatsApp wants it: AES-256-CBC, then ten bytes of HMAC over IV and ciphertext. */
export interface SealedWriter {
  write(chunk: Buffer): Promise<void>;
  /** Resolves when the last byte is written and flushed to the disk. */
  finish(): Promise<SealedFile>;
  /** Closes it unfinished; harmless after `finish`. */
  close(): Promise<void>;
}

/** File mode: only the user of the gateway reads and writes it. */
export const PRIVATE = 0o600;

/** Makes a new file at `path` with a media key of its own. Fails when the file is already there. */
export async function openSealedWriter(path: string, kind: MediaKind): Promise<SealedWriter> {
  const mediaKey = randomBytes(32);
  const { iv, cipherKey, macKey } = mediaKeys(mediaKey, kind);
  const cipher = createCipheriv("aes-256-cbc", cipherKey, iv);
  const mac = createHmac("sha256", macKey).update(iv);
  const clear = createHash("sha256");
  const sealed = createHash("sha256");
  let size = 0;
  let file: FileHandle | null = await open(path, "wx", PRIVATE);

  async function put(bytes: Buffer): Promise<void> {
    sealed.update(bytes);
    await writeAll(file!, bytes);
  }

  async function close(): Promise<void> {
    const open = file;
    file = null;
    await open?.close();
  }

  return {
    close,
    async write(chunk) {
      size += chunk.length;
      clear.update(chunk);
      const encrypted = cipher.update(chunk);
      mac.update(encrypted);
      await put(encrypted);
    },
    async finish() {
      const last = cipher.final();
      mac.update(last);
      await put(Buffer.concat([last, mac.digest().subarray(0, MAC_BYTES)]));
      // The message that names it must not outlive it in a crash of the machine.
      await file!.datasync();
      await close();
      return {
        mediaKey: mediaKey.toString("base64"),
        sha256: clear.digest("base64"),
        encSha256: sealed.digest("base64"),
        size,
      };
    },
  };
}

/** Writes all of it to a new file. Nothing of use is left when `chunks` throw. */
export async function sealAll(
  path: string,
  kind: MediaKind,
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<SealedFile> {
  const writer = await openSealedWriter(path, kind);
  try {
    for await (const chunk of chunks) await writer.write(chunk);
    return await writer.finish();
  } finally {
    await writer.close();
  }
}

/** A file handle may take fewer bytes than it was given. */
export async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length;) done += (await file.write(bytes, done)).bytesWritten;
}

/** What was given to {@link openSealedWriter}, piece by piece. */
export async function* readSealed(
  path: string,
  facts: Pick<FileFacts, "mediaKey" | "kind">,
): AsyncGenerator<Buffer> {
  const { iv, cipherKey } = mediaKeys(Buffer.from(facts.mediaKey, "base64"), facts.kind);
  const decipher = createDecipheriv("aes-256-cbc", cipherKey, iv);
  const { size } = await stat(path);
  for await (const chunk of createReadStream(path, { end: size - MAC_BYTES - 1 }) as AsyncIterable<Buffer>)
    yield decipher.update(chunk);
  yield decipher.final();
}

/** Bytes on the disk of a file of `size` bytes: padded to whole blocks, always by at least one byte, and the MAC. */
export function sealedLength(size: number): number {
  return (Math.floor(size / 16) + 1) * 16 + MAC_BYTES;
}
