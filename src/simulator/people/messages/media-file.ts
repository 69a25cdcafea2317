/** Files of messages as phones encrypt and check them: AES-256-CBC followed by ten bytes of HMAC. */
import { createHash } from "node:crypto";
import { decryptCbc, derive, encryptCbc, equal, hmac } from "../../signal/kdf.ts";

const MAC_BYTES = 10;

/** Names in the key derivation, by kind of file. */
const KEY_NAMES = {
  image: "WhatsApp Image Keys",
  sticker: "WhatsApp Image Keys",
  video: "WhatsApp Video Keys",
  audio: "WhatsApp Audio Keys",
  document: "WhatsApp Document Keys",
  "app-state": "WhatsApp App State Keys",
  history: "WhatsApp History Keys",
} as const;

/** How the keys of a file are derived. */
export type FileKind = keyof typeof KEY_NAMES;

/** A file as it is stored, and what its message says of it. */
interface EncryptedFile {
  bytes: Buffer;
  /** SHA-256 of the file, and of what is stored. */
  fileSha256: Buffer;
  fileEncSha256: Buffer;
  fileLength: number;
}

/** Encrypts a file under a media key of 32 bytes. */
export function encryptFile(plain: Uint8Array, mediaKey: Uint8Array, kind: FileKind): EncryptedFile {
  const { iv, cipherKey, macKey } = keysOf(mediaKey, kind);
  const ciphertext = encryptCbc(cipherKey, iv, plain);
  const bytes = Buffer.concat([ciphertext, hmac(macKey, iv, ciphertext).subarray(0, MAC_BYTES)]);
  return { bytes, fileSha256: sha256(plain), fileEncSha256: sha256(bytes), fileLength: plain.length };
}

/** What a message says about its file; without a key the file is not encrypted. */
export interface FileClaims {
  mediaKey?: Uint8Array | null;
  fileSha256?: Uint8Array | null;
  fileEncSha256?: Uint8Array | null;
  fileLength?: number | { toNumber(): number } | null;
}

/**
 * Decrypts what was loaded, and checks it against everything that the message says about it.
 *
 * @throws {WrongFile} naming what does not fit
 */
export function openFile(loaded: Uint8Array, claims: FileClaims, kind: FileKind): Uint8Array {
  const isEncrypted = Boolean(claims.mediaKey?.length);
  if (isEncrypted && !fits(claims.fileEncSha256, loaded)) throw new WrongFile("the hash of the stored bytes");
  const plain = isEncrypted ? decryptFile(loaded, claims.mediaKey!, kind) : loaded;
  if (!fits(claims.fileSha256, plain)) throw new WrongFile("the hash of the file");
  if (Number(claims.fileLength ?? 0) !== plain.length) {
    throw new WrongFile(`the length: ${plain.length} bytes, not ${Number(claims.fileLength ?? 0)}`);
  }
  return plain;
}

function decryptFile(loaded: Uint8Array, mediaKey: Uint8Array, kind: FileKind): Uint8Array {
  if (mediaKey.length !== 32) throw new WrongFile(`the media key: ${mediaKey.length} bytes`);
  const { iv, cipherKey, macKey } = keysOf(mediaKey, kind);
  const ciphertext = loaded.subarray(0, -MAC_BYTES);
  const mac = hmac(macKey, iv, ciphertext).subarray(0, MAC_BYTES);
  if (!equal(mac, loaded.subarray(-MAC_BYTES))) throw new WrongFile("the MAC");
  try {
    return decryptCbc(cipherKey, iv, ciphertext);
  } catch {
    throw new WrongFile("the padding");
  }
}

/** A file is not what its message says it is. */
export class WrongFile extends Error {}

/** SHA-256, 32 bytes. */
export const sha256 = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();

const fits = (claimed: Uint8Array | null | undefined, bytes: Uint8Array): boolean =>
  claimed != null && equal(claimed, sha256(bytes));

function keysOf(mediaKey: Uint8Array, kind: FileKind) {
  const keys = derive(mediaKey, KEY_NAMES[kind], 112);
  return { iv: keys.subarray(0, 16), cipherKey: keys.subarray(16, 48), macKey: keys.subarray(48, 80) };
}
