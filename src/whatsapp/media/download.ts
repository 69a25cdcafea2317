import type { Dispatcher } from "undici";
import type { Config } from "../../config.ts";
import { SECOND_MS, type Time } from "../../model/time.ts";
import { download } from "../../net/download.ts";
import { OutboundError } from "../../net/errors.ts";
import { baileys } from "../baileys.ts";
import { fileIn } from "../content/content.ts";
import type { MediaRequest, MediaSource } from "../port.ts";

/** Used while the number is not online to be told better. */
const USUAL_HOST = "mmg.whatsapp.net";
const FIRST_BYTE_MS = 30_000;
const TOTAL_MS = 300_000;
/** Every host has the same files: the next one may answer where this one does not. */
const MOST_TRIES = 3;
const PAUSE_MS = 500;

interface MediaDownloads {
  load<T>(request: MediaRequest, read: (chunks: AsyncIterable<Buffer>) => Promise<T>): Promise<T>;
}

/**
 * Loads files from WhatsApp's hosts, byte for byte as they lie there.
 *
 * @param routes the way of each number to these hosts
 */
export function createMediaDownloads(
  routes: { of(deviceId: number): Promise<{ media: Dispatcher }> },
  { whatsappWsUrl }: Pick<Config, "whatsappWsUrl">,
  time: Pick<Time, "pause">,
): MediaDownloads {
  async function load<T>(
    { deviceId, directPath, hosts, maxBytes, signal }: MediaRequest,
    read: (chunks: AsyncIterable<Buffer>) => Promise<T>,
  ): Promise<T> {
    const known = hosts.length === 0 && whatsappWsUrl === null ? [USUAL_HOST] : hosts;
    const { media: agent } = await routes.of(deviceId);
    const limits = { firstByteMs: FIRST_BYTE_MS, totalMs: TOTAL_MS, maxBytes, maxRedirects: 0, signal };
    let failure: unknown = new OutboundError("unreachable", "The number is not online.");
    for (let tries = 0; known.length > 0 && tries < MOST_TRIES; tries++) {
      if (tries > 0) await time.pause(PAUSE_MS, signal);
      const host = known[tries % known.length]!;
      try {
        return await download(agent, addressOf(host, directPath), limits, ({ body }) => read(body));
      } catch (error) {
        failure = error;
        if (!mayPass(error) || signal.aborted) throw error;
      }
    }
    throw failure;
  }

  return { load };
}

/** A host that does not answer, or not to the end, or says that it is in trouble. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof OutboundError) || error.problem !== "unreachable") return false;
  return error.status === null || error.status >= 500;
}

/**
 * The path comes from the sender of a message: it must not lead to another host.
 *
 * @throws {OutboundError} `not_allowed` when it does
 */
export function addressOf(host: string, directPath: string): string {
  const base = new URL(`https://${host}`);
  const url = URL.canParse(directPath, base) ? new URL(directPath, base) : null;
  if (!directPath.startsWith("/") || url === null || url.origin !== base.origin)
    throw new OutboundError("not_allowed", "The message does not name a path on WhatsApp's media hosts.");
  return url.href;
}

/** See `WhatsApp.mediaSource`. */
export function mediaSource(raw: string): MediaSource | null {
  const file = fileIn(raw);
  if (file === null) return null;
  const { directPath, url, mediaKey, fileSha256 } = file.message;
  return {
    kind: file.kind,
    directPath: directPath || pathIn(url) || null,
    key: mediaKey?.length ? mediaKey : null,
    sha256: fileSha256?.length ? fileSha256 : null,
  };
}

/** When the key of a message's file was made, as its sender says, Unix milliseconds: its upload followed. Null: nothing is said. */
export function mediaKeyMadeAt(raw: string): number | null {
  const seconds = baileys.toNumber(fileIn(raw)?.message.mediaKeyTimestamp ?? 0);
  return seconds > 0 ? seconds * SECOND_MS : null;
}

/** Older clients name only the whole address; its host is not to be trusted. */
function pathIn(url: string | null | undefined): string | null {
  if (!url || !URL.canParse(url)) return null;
  const { pathname, search } = new URL(url);
  return pathname === "/" ? null : pathname + search;
}
