import { createCipheriv, createDecipheriv, createHash, createHmac, timingSafeEqual } from "node:crypto";
import { open } from "node:fs/promises";
import { MAC_BYTES, type MediaKeys } from "../model/media/media-keys.ts";

const CIPHER = "aes-256-cbc";
const BLOCK = 16;
/** What a file grows by at most when it is encrypted: padding and MAC. */
export const CIPHER_OVERHEAD = BLOCK + MAC_BYTES;
const READ_BYTES = 64 * 1024;

/** The bytes are not those that the sender's phone encrypted. */
export class FileDamaged extends Error {
  constructor() {
    super("The file is damaged: it does not match the checksums in its message.");
  }
}

/** Takes a file as it comes from WhatsApp and gives what is to be kept on disk: always encrypted. */
export interface Intake {
  update(chunk: Buffer): Buffer;
  /** @throws {FileDamaged} when MAC or checksum are wrong: nothing of it may be used */
  end(): Buffer;
}

/** For an encrypted file: kept as it came, MAC and the decrypted file's SHA-256 are proved on the way. */
export function encryptedIntake({ iv, cipherKey, macKey }: MediaKeys, sha256: Uint8Array | null): Intake {
  const mac = createHmac("sha256", macKey).update(iv);
  const decipher = createDecipheriv(CIPHER, cipherKey, iv);
  const hash = createHash("sha256");
  let tail: Buffer = Buffer.alloc(0);
  return {
    update(chunk) {
      const bytes = tail.length > 0 ? Buffer.concat([tail, chunk]) : chunk;
      const cut = Math.max(0, bytes.length - MAC_BYTES);
      const body = bytes.subarray(0, cut);
      tail = Buffer.from(bytes.subarray(cut));
      mac.update(body);
      hash.update(decipher.update(body));
      return chunk;
    },
    end() {
      if (!same(tail, mac.digest().subarray(0, MAC_BYTES))) throw new FileDamaged();
      hash.update(finish(decipher));
      if (sha256 !== null && !same(sha256, hash.digest())) throw new FileDamaged();
      return Buffer.alloc(0);
    },
  };
}

/** For a file that is not encrypted, as in channels: it is, before it reaches the disk. */
export function plainIntake({ iv, cipherKey, macKey }: MediaKeys, sha256: Uint8Array | null): Intake {
  const mac = createHmac("sha256", macKey).update(iv);
  const cipher = createCipheriv(CIPHER, cipherKey, iv);
  const hash = createHash("sha256");
  const kept = (bytes: Buffer): Buffer => {
    mac.update(bytes);
    return bytes;
  };
  return {
    update(chunk) {
      hash.update(chunk);
      return kept(cipher.update(chunk));
    },
    end() {
      if (sha256 !== null && !same(sha256, hash.digest())) throw new FileDamaged();
      const last = kept(cipher.final());
      return Buffer.concat([last, mac.digest().subarray(0, MAC_BYTES)]);
    },
  };
}

/**
 * Bytes of the decrypted file, told by its last block.
 *
 * @throws {FileDamaged}
 */
export async function plainSize(path: string, { iv, cipherKey }: MediaKeys): Promise<number> {
  const file = await open(path);
  try {
    const length = (await file.stat()).size - MAC_BYTES;
    if (length < BLOCK || length % BLOCK !== 0) throw new FileDamaged();
    const last = await readAt(file, length - BLOCK, BLOCK);
    const before = length === BLOCK ? iv : await readAt(file, length - 2 * BLOCK, BLOCK);
    const decipher = createDecipheriv(CIPHER, cipherKey, before);
    return length - BLOCK + Buffer.concat([decipher.update(last), finish(decipher)]).length;
  } finally {
    await file.close();
  }
}

/**
 * Decrypts a kept file. The last bytes are given only when all of it has proved right: whoever has read to the end has
 * the file that was sent.
 *
 * @throws {FileDamaged} instead of the last bytes
 */
export async function* decrypted(
  path: string,
  { iv, cipherKey, macKey }: MediaKeys,
  sha256: Uint8Array | null,
): AsyncGenerator<Buffer> {
  const intake = encryptedIntake({ iv, cipherKey, macKey }, sha256);
  const decipher = createDecipheriv(CIPHER, cipherKey, iv);
  const file = await open(path);
  try {
    const end = (await file.stat()).size - MAC_BYTES;
    let held: Buffer = Buffer.alloc(0);
    for (let at = 0; at < end;) {
      const bytes = await readAt(file, at, Math.min(READ_BYTES, end - at));
      at += bytes.length;
      intake.update(bytes);
      if (held.length > 0) yield held;
      held = decipher.update(bytes);
    }
    intake.update(await readAt(file, Math.max(0, end), MAC_BYTES));
    intake.end();
    const last = Buffer.concat([held, finish(decipher)]);
    if (last.length > 0) yield last;
  } finally {
    await file.close();
  }
}

async function readAt(
  file: Awaited<ReturnType<typeof open>>,
  position: number,
  length: number,
): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
  if (bytesRead === 0 && length > 0) throw new FileDamaged();
  return buffer.subarray(0, bytesRead);
}

/** Wrong padding means wrong bytes. */
function finish(cipher: { final(): Buffer }): Buffer {
  try {
    return cipher.final();
  } catch {
    throw new FileDamaged();
  }
}

const same = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);
