import { hkdfSync } from "node:crypto";
import type { MediaKind } from "../messages.ts";

/** What WhatsApp calls the keys of each kind of file. */
const PURPOSES: Record<MediaKind | "history", string> = {
  image: "WhatsApp Image Keys",
  sticker: "WhatsApp Image Keys",
  video: "WhatsApp Video Keys",
  audio: "WhatsApp Audio Keys",
  voice: "WhatsApp Audio Keys",
  document: "WhatsApp Document Keys",
  history: "WhatsApp History Keys",
};

/** Bytes of the HMAC-SHA256 that follow the ciphertext. */
export const MAC_BYTES = 10;

/** What one file is encrypted and decrypted with: `iv` of 16 bytes, the two keys of 32. */
export interface MediaKeys {
  iv: Buffer;
  /** AES-256-CBC. */
  cipherKey: Buffer;
  /** HMAC-SHA256 over IV and ciphertext. */
  macKey: Buffer;
}

/** @param mediaKey the 32 bytes that the message carries */
export function mediaKeys(mediaKey: Uint8Array, kind: keyof typeof PURPOSES): MediaKeys {
  const expanded = Buffer.from(hkdfSync("sha256", mediaKey, new Uint8Array(0), PURPOSES[kind], 112));
  return {
    iv: expanded.subarray(0, 16),
    cipherKey: expanded.subarray(16, 48),
    macKey: expanded.subarray(48, 80),
  };
}
