import { open, type FileHandle } from "node:fs/promises";
import { GatewayError } from "../model/errors/errors.ts";
import type { MediaRequest } from "../model/media/media.ts";
import type { MediaKind } from "../model/messages.ts";
import type { Download } from "../net/download.ts";
import type { Workspace } from "./files.ts";
import type { Found } from "./decoder/identify.ts";
import { readOpusHead } from "./decoder/opus-head.ts";
import { KNOWN_AT_THE_END, LOOKED_AT_BYTES, mimetypeFor } from "./fit.ts";
import { openSealedWriter, PRIVATE, writeAll, type SealedFile, type SealedWriter } from "./seal.ts";

/** A file that has arrived and is what it was called. */
export interface Received {
  kind: MediaKind;
  mimetype: string;
  /** Usual one of such a file, without the dot; "" when unknown. */
  extension: string;
  /** Path of the file as it came, when it has to be looked into. */
  clear: string | null;
  /** Null when the file is made of what came first. */
  sealed: SealedFile | null;
  disposition: string | null;
}

/** Name of the encrypted file in its workspace. */
export const SEALED_NAME = "sealed";
const VOICE_MIMETYPE = "audio/ogg; codecs=opus";
const CLEAR_NAME = "clear";
/** Types that are kinds of messages themselves. */
const PLAIN_KINDS: ReadonlySet<MediaKind> = new Set(["image", "video", "audio", "sticker"]);

/** What a file is to be sent as, and whether it came itself instead of a link to it. */
export interface Wanted {
  mediaType: MediaRequest["mediaType"];
  isGiven: boolean;
}

/** Where a file goes, and who is asked about it. */
interface ReceiveInto {
  workspace: Workspace;
  /** Throws when a voice note cannot be made. */
  requireConverter(): void;
  /** @throws FILE_NOT_USABLE */
  identify(head: Buffer, tail: Buffer): Promise<Found>;
}

/**
 * Writes a file to the disk while it comes: encrypted, and also in the clear when a decoder has to see it. What it is is
 * known from its first bytes, so most of what cannot be used is not transferred.
 *
 * @throws FILE_NOT_USABLE, and what the download throws
 */
export async function receive(
  { mediaType, isGiven, ptt }: Wanted & Pick<MediaRequest, "ptt">,
  answer: Download,
  { workspace, requireConverter, identify }: ReceiveInto,
): Promise<Received> {
  const wanted: Wanted = { mediaType, isGiven };
  const chunks = answer.body[Symbol.asyncIterator]();
  const head = await readHead(chunks);
  if (head.length === 0) throw notUsable("an empty file", wanted);
  const voice = ptt === "vn" && (mediaType === "audio" || mediaType === "mp3");
  const isVoiceNote = readOpusHead(head)?.channels === 1;
  const asItIs = mediaType !== "sticker" && (!voice || isVoiceNote);
  // What is a voice note already may be called sound of any kind.
  const fits: Wanted = voice && isVoiceNote ? { ...wanted, mediaType: "audio" } : wanted;
  let found = await identify(head, head);
  if (KNOWN_AT_THE_END.has(mediaType)) refusePages(found, wanted);
  else requireFit(fits, found, head);

  if (!asItIs && voice) requireConverter();
  const kind = kindOf(mediaType, voice);
  const clear = kind === "document" ? null : workspace.path(CLEAR_NAME);
  const target = { sealed: asItIs ? workspace.path(SEALED_NAME) : null, clear, kind };
  const { sealed, tail } = await write(target, head, chunks);
  if (KNOWN_AT_THE_END.has(mediaType)) found = await identify(head, tail);
  const mimetype = requireFit(fits, found, head);
  return {
    kind,
    mimetype: voice ? VOICE_MIMETYPE : mimetype,
    extension: mediaType === "document" ? found.extension : mediaType,
    clear,
    sealed,
    disposition: answer.header("content-disposition"),
  };
}

async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let bytes = 0; bytes < LOOKED_AT_BYTES;) {
    const next = await chunks.next();
    if (next.done) break;
    pieces.push(next.value);
    bytes += next.value.length;
  }
  return Buffer.concat(pieces);
}

/** @returns the hashes of what was encrypted, and the file's last bytes */
async function write(
  target: { sealed: string | null; clear: string | null; kind: MediaKind },
  head: Buffer,
  chunks: AsyncIterator<Buffer>,
): Promise<{ sealed: SealedFile | null; tail: Buffer }> {
  let sealed: SealedWriter | null = null;
  let clear: FileHandle | null = null;
  let tail = head;
  try {
    if (target.sealed !== null) sealed = await openSealedWriter(target.sealed, target.kind);
    if (target.clear !== null) clear = await open(target.clear, "wx", PRIVATE);
    for (let chunk: Buffer = head; ;) {
      await sealed?.write(chunk);
      if (clear !== null) await writeAll(clear, chunk);
      const next = await chunks.next();
      if (next.done) break;
      chunk = next.value;
      if (target.kind === "document") tail = lastOf(tail, chunk);
    }
    return { sealed: (await sealed?.finish()) ?? null, tail };
  } finally {
    await sealed?.close();
    await clear?.close();
  }
}

const lastOf = (before: Buffer, chunk: Buffer): Buffer =>
  chunk.length >= LOOKED_AT_BYTES
    ? chunk
    : Buffer.concat([before.subarray(-(LOOKED_AT_BYTES - chunk.length)), chunk]);

function kindOf(mediaType: MediaRequest["mediaType"], voice: boolean): MediaKind {
  if (voice) return "voice";
  return PLAIN_KINDS.has(mediaType as MediaKind) ? (mediaType as MediaKind) : "document";
}

function requireFit(wanted: Wanted, found: Found, head: Buffer): string {
  if (isPageItself(found, wanted)) return found.mimetype;
  const mimetype = mimetypeFor(wanted.mediaType, found, head);
  if (mimetype === null) throw notUsable(found.label, wanted);
  return mimetype;
}

function refusePages(found: Found, wanted: Wanted): void {
  if (found.extension === "html" && !isPageItself(found, wanted)) throw notUsable(found.label, wanted);
}

/** A link that answers with a page has most likely led to the wrong place; who gives a page itself means it. */
const isPageItself = ({ extension }: Found, { mediaType, isGiven }: Wanted): boolean =>
  isGiven && mediaType === "document" && extension === "html";

/** @param what came instead, for people */
export function notUsable(what: string, { mediaType, isGiven }: Wanted): GatewayError {
  return new GatewayError(
    "FILE_NOT_USABLE",
    isGiven
      ? `The file is ${what}, which cannot be sent as ${mediaType}.`
      : `The link answered with ${what}, which cannot be sent as ${mediaType}. The link must answer with the file itself.`,
  );
}
