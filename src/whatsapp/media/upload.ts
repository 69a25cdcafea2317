import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { GatewayError } from "../../model/errors/errors.ts";
import { failpoint } from "../../model/failpoint.ts";
import type { OutgoingFile, OutgoingFiles, Upload, UploadTarget } from "../../model/media/media.ts";
import type { MediaKind } from "../../model/messages.ts";
import { DAY_MS, MINUTE_MS } from "../../model/time.ts";
import { OutboundError } from "../../net/errors.ts";
import { ProxyFailed } from "../../net/proxy.ts";
import type { MediaHostsSource } from "./hosts.ts";
import { createMediaService } from "./media-service.ts";
import { presenceAt } from "./still-there.ts";
import type { StoredFile } from "../content/to-whatsapp-media.ts";

/** Stores files at WhatsApp's media hosts, each once for as many messages as name it. */
export interface Uploads {
  /**
   * What is remembered of the file while it is fresh; else it is stored now. Uploads of the same file are one.
   *
   * @returns null when the file is not kept any more
   * @throws {UploadFailed}
   */
  ensure(fileId: string, target: UploadTarget, hosts: MediaHostsSource): Promise<StoredFile | null>;
  /**
   * Whether WhatsApp still has what lies under a path; asked of its hosts, nothing is loaded.
   *
   * @throws {UploadFailed} when none of them says so
   */
  isThere(directPath: string, hosts: MediaHostsSource): Promise<boolean>;
}

/** A file could not be stored. */
export class UploadFailed extends Error {
  /** What the host refused it with; null when it failed in a way that passes. */
  readonly status: number | null;
  /** Of what passes: the status that came; null when none did. */
  readonly answered: number | null;
  /** It says nothing of this file: as far as is known, no file is taken. */
  ofService = false;

  constructor(message: string, status: number | null, answered: number | null = null) {
    super(message);
    this.name = "UploadFailed";
    this.status = status;
    this.answered = answered;
  }
}

/** WhatsApp keeps files for weeks. What is sent later than this is stored anew, so that nobody gets a dead link. */
export const FRESH_MS = DAY_MS;
const IDLE_MS = MINUTE_MS;
const TOTAL_MS = 15 * MINUTE_MS;
const MAX_ANSWER_BYTES = 64 * 1024;
/** The host wants another ticket. */
const TICKET_REFUSED = new Set([401, 403]);
/** Other refusals do not pass. */
const PASSING = new Set([408, 425, 429]);

/** First part of the path, and what kind of file it is for. */
const PATHS: Record<MediaKind, string> = {
  image: "image",
  sticker: "image",
  video: "video",
  audio: "audio",
  voice: "audio",
  document: "document",
};

/** Stores each file once for all its destinations: uploads under way are shared, finished ones used for a day. */
export function createUploads(agent: Dispatcher, files: OutgoingFiles, now: () => number): Uploads {
  const inFlight = new Map<string, Promise<StoredFile | null>>();
  const service = createMediaService();

  async function store(
    fileId: string,
    target: UploadTarget,
    hosts: MediaHostsSource,
  ): Promise<StoredFile | null> {
    const file = await files.load(fileId);
    if (file === null) return null;
    const known = file.uploaded(target);
    if (known !== null && known.at > now() - FRESH_MS) return { facts: file.facts, upload: known, target };
    if (!(await isReady(file))) return null;
    const upload = await storeAtAnyHost(agent, file, target, hosts, now).catch((error: unknown) => {
      const failure = asFailure(error);
      failure.ofService ||= failure.status === null && service.isAway(fileId, failure.answered);
      throw failure;
    });
    service.hasTaken(fileId);
    failpoint("after-upload");
    await files.remember(fileId, target, upload);
    return { facts: file.facts, upload, target };
  }

  return {
    ensure(fileId, target, hosts) {
      const key = `${target}:${fileId}`;
      const running = inFlight.get(key);
      if (running !== undefined) return running;
      // Looking is part of it: whoever comes later either waits for this one, or reads what it has stored.
      const stored = store(fileId, target, hosts).finally(() => inFlight.delete(key));
      inFlight.set(key, stored);
      return stored;
    },
    isThere: (directPath, source) =>
      askAnyHost(agent, directPath, source).catch((error: unknown) => {
        const failure = asFailure(error);
        failure.ofService ||= service.isAway(directPath, failure.answered);
        throw failure;
      }),
  };
}

async function askAnyHost(agent: Dispatcher, directPath: string, source: MediaHostsSource): Promise<boolean> {
  let failure = new UploadFailed("WhatsApp did not name a host for files.", null);
  for (const host of (await askFor(source, false)).hosts) {
    try {
      const presence = await presenceAt(agent, host, directPath);
      if (typeof presence === "string") return presence === "there";
      const { answered } = presence;
      failure = new UploadFailed(`WhatsApp's media host answered ${answered}.`, null, answered);
    } catch (error) {
      if (error instanceof OutboundError) return false;
      failure = asFailure(error);
    }
  }
  throw failure;
}

/** What cannot be had now is no fault of the file: it is tried again, as when WhatsApp takes none. */
async function isReady(file: OutgoingFile): Promise<boolean> {
  try {
    return await file.ready();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const failure = new UploadFailed(error.message, null);
    failure.ofService = true;
    throw failure;
  }
}

async function storeAtAnyHost(
  agent: Dispatcher,
  file: OutgoingFile,
  target: UploadTarget,
  source: MediaHostsSource,
  now: () => number,
): Promise<Upload> {
  let { hosts, auth } = await askFor(source, false);
  let ticketIsNew = false;
  let failure = new UploadFailed("WhatsApp did not name a host for files.", null);
  for (let next = 0; next < hosts.length; next++) {
    try {
      return { ...(await storeAt(agent, hosts[next]!, auth, file, target)), at: now() };
    } catch (error) {
      failure = asFailure(error);
      if (failure.status === null) continue;
      if (!TICKET_REFUSED.has(failure.status) || ticketIsNew) throw failure;
      ({ hosts, auth } = await askFor(source, true));
      ticketIsNew = true;
      next = -1;
    }
  }
  throw failure;
}

async function askFor(source: MediaHostsSource, fresh: boolean) {
  try {
    return await source.get(fresh);
  } catch (error) {
    throw new UploadFailed(`WhatsApp did not name a host for files: ${(error as Error).message}`, null);
  }
}

async function storeAt(
  agent: Dispatcher,
  host: string,
  auth: string,
  file: OutgoingFile,
  target: UploadTarget,
): Promise<Omit<Upload, "at">> {
  const { bytes, length, sha256 } = file.content(target);
  const token = Buffer.from(sha256, "base64").toString("base64url");
  const type = PATHS[file.facts.kind];
  const folder = target === "channel" ? `newsletter/newsletter-${type}` : `mms/${type}`;
  // Nobody can make the small picture of a file in a channel but WhatsApp, whose copy is not encrypted.
  const query = new URLSearchParams({ auth, token, ...(target === "channel" && { server_thumb_gen: "1" }) });
  const { statusCode, body } = await agent.request({
    origin: `https://${host}`,
    path: `/${folder}/${token}?${query}`,
    method: "POST",
    headers: {
      "content-type": "application/octet-stream",
      "content-length": String(length),
      origin: "https://web.whatsapp.com",
    },
    body: Readable.from(bytes, { objectMode: false }),
    headersTimeout: IDLE_MS,
    bodyTimeout: IDLE_MS,
    signal: AbortSignal.timeout(TOTAL_MS),
  });
  const answer = await readAnswer(body);
  if (statusCode >= 400 && statusCode < 500 && !PASSING.has(statusCode))
    throw new UploadFailed(`WhatsApp's media host refused the file with ${statusCode}.`, statusCode);
  const { url, direct_path: directPath, handle } = answer;
  if (statusCode !== 200 || typeof url !== "string" || typeof directPath !== "string")
    throw new UploadFailed(`WhatsApp's media host answered ${statusCode}.`, null, statusCode);
  return {
    url,
    directPath,
    ...(typeof handle === "string" ? { handle } : {}),
    ...thumbnailIn(answer.thumbnail_info),
  };
}

function thumbnailIn(info: unknown): Pick<Upload, "thumbnailPath" | "thumbnailSha256"> {
  const { thumbnail_direct_path: path, thumbnail_sha256: sha256 } = (info ?? {}) as Record<string, unknown>;
  if (typeof path !== "string" || typeof sha256 !== "string") return {};
  return { thumbnailPath: path, thumbnailSha256: sha256 };
}

async function readAnswer(body: Dispatcher.ResponseData["body"]): Promise<Record<string, unknown>> {
  let text = "";
  for await (const chunk of body as AsyncIterable<Buffer>) {
    text += chunk.toString("utf8");
    if (text.length > MAX_ANSWER_BYTES) return {};
  }
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function asFailure(error: unknown): UploadFailed {
  if (error instanceof UploadFailed) return error;
  if (error instanceof ProxyFailed) {
    const failure = new UploadFailed(error.message, null);
    failure.ofService = true;
    return failure;
  }
  const { code, message } = error as { code?: string; message?: string };
  return new UploadFailed(`WhatsApp's media host did not answer: ${code ?? message}.`, null);
}
