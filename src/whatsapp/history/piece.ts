import { createDecipheriv, createHmac, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import { MAC_BYTES, mediaKeys, type MediaKeys } from "../../model/media/media-keys.ts";
import type { MediaRequest } from "../port.ts";
import type { HistoryNotice } from "./notice.ts";

// A phone's pieces are a few megabytes. What is more than this is no history, and two of them are held at a time.
const MOST_LOADED = 32 * 1024 * 1024;
const MOST_INFLATED = 96 * 1024 * 1024;

/** A piece of history that nothing can be made of, however often it is tried. */
export class HistoryUnusable extends Error {}

/** Loads a file from WhatsApp's hosts. */
export type LoadFile = (
  file: Pick<MediaRequest, "directPath" | "maxBytes">,
  read: (chunks: AsyncIterable<Buffer>) => Promise<Buffer>,
) => Promise<Buffer>;

/**
 * The encoded `HistorySync` that a notice brings along or leads to.
 *
 * @throws HistoryUnusable, OutboundError
 */
export async function loadPiece(notice: HistoryNotice, load: LoadFile): Promise<Buffer> {
  const compressed = await compressedPiece(notice, load);
  try {
    return await promisify(inflate)(compressed, { maxOutputLength: MOST_INFLATED });
  } catch (error) {
    throw new HistoryUnusable("It is not compressed as history is, or far too long.", { cause: error });
  }
}

async function compressedPiece(
  { initialHistBootstrapInlinePayload: inline, mediaKey, directPath }: HistoryNotice,
  load: LoadFile,
): Promise<Uint8Array> {
  if (inline?.length) return inline;
  if (!mediaKey?.length || !directPath) throw new HistoryUnusable("It says not where the piece lies.");
  const keys = mediaKeys(mediaKey, "history");
  return load({ directPath, maxBytes: MOST_LOADED }, (chunks) => decrypted(chunks, keys));
}

/** Nothing is given of what does not prove right. */
async function decrypted(
  chunks: AsyncIterable<Buffer>,
  { iv, cipherKey, macKey }: MediaKeys,
): Promise<Buffer> {
  const mac = createHmac("sha256", macKey).update(iv);
  const decipher = createDecipheriv("aes-256-cbc", cipherKey, iv);
  const plain: Buffer[] = [];
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([tail, chunk]);
    const cut = Math.max(0, bytes.length - MAC_BYTES);
    const body = bytes.subarray(0, cut);
    tail = bytes.subarray(cut);
    mac.update(body);
    plain.push(decipher.update(body));
  }
  const proof = mac.digest().subarray(0, MAC_BYTES);
  if (tail.length !== MAC_BYTES || !timingSafeEqual(tail, proof))
    throw new HistoryUnusable("Its file is damaged.");
  return Buffer.concat([...plain, decipher.final()]);
}
