import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { devices, erasedDevices } from "../../drizzle/schema.ts";
import { GatewayError } from "../model/errors/errors.ts";
import type { Incoming, IncomingMedia } from "../model/messages.ts";
import { systemTime, type Time } from "../model/time.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import { decrypted, FileDamaged, plainSize } from "./incoming-cipher.ts";
import {
  createIncomingFiles,
  type IncomingFiles,
  LOAD_FILE,
  tooLarge,
  type IncomingFilesDeps,
  type KeptFile,
} from "./incoming-files.ts";
import { createLinks, type LinkTarget, type PartTarget, type SentTarget } from "./links.ts";

/** Base64 in a webhook's JSON: larger images are for the link. */
const LARGEST_IMAGE_BYTES = 5 * 1024 * 1024;
/** A chat's webhook waits so long for an image, then it is told without. */
const IMAGE_WAIT_MS = 15_000;
const DOWNLOAD_WAIT_MS = 300_000;
const ERASED = defineQuery("SELECT id FROM erased_devices WHERE id = ?", { id: erasedDevices.id });
const DISABLED = defineQuery(
  "SELECT d.id FROM devices d JOIN accounts a ON a.id = d.account_id WHERE d.id = ? AND a.enabled = 0",
  { id: devices.id },
);

/** What received files for bots, webhooks and `/media` need. */
export interface IncomingMediaDeps extends Omit<IncomingFilesDeps, "box" | "config"> {
  store: Store;
  config: IncomingFilesDeps["config"] & { publicUrl: string };
  /** Null when the inbox has it no more. */
  load(inboxId: number): Promise<Incoming | null>;
  /** The file of a message that was sent; null when it is not kept any more. */
  openSent(target: SentTarget): Promise<OpenedFile | null>;
  /** A file that was uploaded; null when it is not kept any more. */
  openUploaded(target: PartTarget): Promise<OpenedFile | null>;
  /** The gateway waits for downloads no longer. */
  stopping: AbortSignal;
  /** Milliseconds that `image` may take. Default 15,000. */
  imageWaitMs?: number;
  /** Limits that. Default: the host's. */
  time?: Pick<Time, "after">;
}

/** A file that is ready to be given away. */
export interface OpenedFile {
  mimetype: string;
  /** "" when the message has none. */
  fileName: string;
  kind: IncomingMedia["kind"];
  /** Bytes. */
  size: number;
  /** Fails instead of giving the last bytes when the file is damaged. */
  body: AsyncIterable<Buffer>;
}

/** Files of received messages, for those who are told about the message. */
export interface ReceivedMedia {
  /** The address of a message's file, or why there is none. */
  link(target: LinkTarget, media: IncomingMedia): { url: string } | { error: string };
  /** Bytes of the largest image that is given as base64. */
  largestImage: number;
  /**
   * A message's file whole, for bots.
   *
   * @throws {GatewayError} FILE_TOO_LARGE, FILE_UNREACHABLE, FILE_NOT_USABLE; the reason of `signal`
   */
  read(
    target: LinkTarget,
    signal: AbortSignal,
  ): Promise<{ bytes: Buffer; mimetype: string; fileName: string }>;
  /** An image as base64, or why there is none. Takes at most 15 s. @throws only when `stopping` aborts */
  image(target: LinkTarget): Promise<{ base64: string } | { error: string }>;
  /**
   * @returns null when the link is wrong or expired, the account disabled, or the message not kept any more
   * @throws {GatewayError} FILE_TOO_LARGE, FILE_UNREACHABLE, FILE_NOT_USABLE
   */
  open(token: string): Promise<OpenedFile | null>;
}

class TooSlow extends Error {}

/** Files of incoming messages: fetched when somebody wants them, kept encrypted, given away decrypted. */
export function createReceivedMedia(deps: IncomingMediaDeps): ReceivedMedia & { kept: IncomingFiles } {
  const { store, config, log, load, elsewhere, stopping } = deps;
  const { imageWaitMs = IMAGE_WAIT_MS, time = systemTime } = deps;
  const files = createIncomingFiles({ ...deps, box: store.box });
  const links = createLinks(store.box, store.now);

  const within = <T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    atMost(time, ms, stopping, work);

  /** An erased number's messages are deleted little by little, its links end at once. */
  const isErased = async (deviceId: number): Promise<boolean> =>
    (await store.readOne(ERASED, [deviceId])) !== null;

  async function keptFile(
    { deviceId, inboxId }: LinkTarget,
    signal: AbortSignal,
  ): Promise<{ kept: KeptFile; media: IncomingMedia; size: number } | null> {
    const message = (await isErased(deviceId)) ? null : await load(inboxId);
    if (!message?.media) return null;
    const kept = await files.get(deviceId, inboxId, message, signal);
    return { kept, media: message.media, size: await plainSize(kept.path, kept.keys) };
  }

  deps.cluster?.bus.answer(LOAD_FILE, async (deviceId, { inboxId }) => {
    await within(DOWNLOAD_WAIT_MS, (signal) => keptFile({ deviceId, inboxId }, signal));
    await files.shelved(deviceId, inboxId);
    return null;
  });

  async function readImage(target: LinkTarget): Promise<{ base64: string } | { error: string }> {
    const found = await within(imageWaitMs, (signal) => keptFile(target, signal));
    if (found === null) return { error: "The message is no longer stored." };
    if (found.size > LARGEST_IMAGE_BYTES)
      return { error: "The image is larger than 5 MiB, and larger than its message says." };
    return { base64: (await wholeFile(found.kept)).toString("base64") };
  }

  return {
    kept: files,
    largestImage: LARGEST_IMAGE_BYTES,
    link(target, media) {
      if (media.size > config.maxMediaBytes) return { error: tooLarge(config.maxMediaBytes).message };
      return { url: `${config.publicUrl}/media/${links.make(target)}` };
    },
    async read(target, signal) {
      const found = await keptFile(target, signal);
      if (found === null) throw new GatewayError("FILE_UNREACHABLE", "The message has no file.");
      const { mimetype, fileName } = found.media;
      return { bytes: await wholeFile(found.kept), mimetype, fileName };
    },
    async image(target) {
      try {
        return await readImage(target);
      } catch (error) {
        stopping.throwIfAborted();
        const problem = imageProblem(error, imageWaitMs);
        const { deviceId: device, inboxId: inbox } = target;
        if (problem === null) log.error({ device, inbox, err: error }, "could not download an image");
        return { error: problem ?? "The image could not be stored." };
      }
    },
    async open(token) {
      const target = links.read(token);
      if (target === null) return null;
      if ("name" in target) return openForNode(elsewhere.pathOf(target.name));
      // Its keys are refused, and so is what was handed out with them.
      if ((await store.readOne(DISABLED, [target.deviceId])) !== null) return null;
      if ("waId" in target) return (await isErased(target.deviceId)) ? null : deps.openSent(target);
      if ("part" in target) return (await isErased(target.deviceId)) ? null : deps.openUploaded(target);
      try {
        const found = await within(DOWNLOAD_WAIT_MS, (signal) => keptFile(target, signal));
        if (found === null) return null;
        const { kept, media, size } = found;
        return { ...shown(media), size, body: decrypted(kept.path, kept.keys, kept.sha256) };
      } catch (error) {
        throw stopping.aborted ? restarting() : publicError(error);
      }
    },
  };
}

/** Not `AbortSignal.any` of a timeout: Node 20 may collect such a signal as garbage before it fires. */
async function atMost<T>(
  time: Pick<Time, "after">,
  ms: number,
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const cancel = time.after(ms, () => abort.abort(new TooSlow()));
  const stop = (): void => abort.abort(stopping.reason);
  if (stopping.aborted) stop();
  stopping.addEventListener("abort", stop, { once: true });
  try {
    return await work(abort.signal);
  } finally {
    cancel();
    stopping.removeEventListener("abort", stop);
  }
}

/** For another node: what lies on this disk, as it lies there. */
async function openForNode(path: string): Promise<OpenedFile | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  const body = createReadStream(path, { end: found.size - 1 });
  return { mimetype: "application/octet-stream", fileName: "", kind: "document", size: found.size, body };
}

async function wholeFile({ path, keys, sha256 }: KeptFile): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of decrypted(path, keys, sha256)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** @returns null when it is a fault of this gateway */
function imageProblem(error: unknown, waitedMs: number): string | null {
  if (error instanceof GatewayError || error instanceof FileDamaged) return error.message;
  if (error instanceof TooSlow) return `The image did not arrive from WhatsApp within ${waitedMs / 1000} s.`;
  return null;
}

const restarting = (): GatewayError =>
  new GatewayError("UNAVAILABLE", "The gateway is restarting; try again in a moment.", { retryAfter: 5 });

function publicError(error: unknown): unknown {
  if (error instanceof FileDamaged) return new GatewayError("FILE_NOT_USABLE", error.message);
  if (error instanceof TooSlow)
    return new GatewayError("FILE_UNREACHABLE", "The file did not arrive from WhatsApp in time.");
  return error;
}

const shown = ({ mimetype, fileName, kind }: IncomingMedia): Omit<OpenedFile, "size" | "body"> => ({
  mimetype,
  fileName,
  kind,
});
