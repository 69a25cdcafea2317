import { open } from "node:fs/promises";
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import type { FileFacts, GivenFile, MediaRequest } from "../model/media/media.ts";
import type { MediaKind } from "../model/messages.ts";
import type { MediaDraft } from "../model/content/drafts.ts";
import { abortsWith, sharedAbort } from "../model/shared-abort.ts";
import { OutboundError } from "../net/errors.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import type { Store } from "../store/store.ts";
import { sharedDecoder } from "./decoder/decoder.ts";
import { createElsewhere, type Elsewhere } from "./elsewhere.ts";
import { createFetching, lookOf, type Job } from "./fetch.ts";
import { createFfmpeg, type Ffmpeg } from "./ffmpeg.ts";
import { createFiles, type Files, type Workspace } from "./files.ts";
import { createLooks, MADE_NAME } from "./look.ts";
import { documentName } from "./names.ts";
import { SEALED_NAME } from "./receive.ts";
import { sealAll, type SealedFile } from "./seal.ts";
import { createShares, type ShareLimits } from "../model/shares/shares.ts";
import { createIntake, type Arrival } from "./given/intake.ts";
import { createUploads, type Uploads } from "./given/uploads.ts";

interface MediaDeps {
  store: Store;
  config: Pick<Config, "dataDir" | "maxMediaBytes" | "ffmpegPath" | "publicUrl">;
  log: Logger;
  http: Pick<SafeFetch, "download">;
  /** Whose number it is; null once it is erased. */
  accountOf(deviceId: number): string | null;
  /** Where files lie. Default: on this disk and nowhere else. */
  elsewhere?: Elsewhere;
}

/** Files on their way from somebody's link to WhatsApp. */
export interface Media {
  /**
   * Fetches a file once, for however many destinations: checks that it is what it is called, makes thumbnail, duration
   * and voice note, and keeps it encrypted.
   *
   * @throws GatewayError: FILE_UNREACHABLE, FILE_NOT_USABLE, FILE_TOO_LARGE, URL_NOT_ALLOWED, CONVERTER_MISSING, UNAVAILABLE
   */
  prepare(request: MediaRequest): Promise<MediaDraft>;
  /**
   * Fetches a picture and makes of it what profiles have: a square JPEG of at most 640 pixels.
   *
   * @throws as `prepare`
   */
  profilePicture(request: Pick<MediaRequest, "deviceId" | "url" | "signal">): Promise<Buffer>;
  /**
   * Takes a file that comes with a request, when it is its account's turn.
   *
   * @returns what `prepare` takes as `given`; to be disposed of
   * @throws GatewayError: FILE_TOO_LARGE, UNAVAILABLE, and what `chunks` and the signal say
   */
  take(chunks: AsyncIterable<Buffer>, arrival: Arrival): Promise<GivenFile>;
  /** Files that programs give themselves, instead of their address. */
  uploads: Uploads;
  /** For connections: what is sent, and where it was uploaded. */
  files: Files;
  /** False while the system has no ffmpeg: voice notes cannot be made. */
  hasConverter(): boolean;
  /** Ends downloads and converters. */
  stop(): void;
}

/** Each holds a connection and buffers. */
const FETCHES: ShareLimits = { all: 24, each: 8, most: 96 };

/** Files to be sent, with shares of each account and number in how many are fetched and looked at at once. */
export function createMedia({ store, config, log, http, accountOf, elsewhere }: MediaDeps): Media {
  const { dataDir } = config;
  const places = elsewhere ?? createElsewhere({ store, dataDir, log, media: null, peers: null });
  const files = createFiles(store, dataDir, places);
  const uploads = createUploads({ store, config, files, elsewhere: places, accountOf });
  const ffmpeg = createFfmpeg(config.ffmpegPath);
  const looks = createLooks({ ffmpeg, log, decoder: sharedDecoder() });
  const fetches = createShares(FETCHES);
  const stopping = sharedAbort();
  const limit = { maxBytes: config.maxMediaBytes, tooLarge: () => tooLarge(config.maxMediaBytes) };
  const intake = createIntake({ files, turns: fetches, ...limit });
  const requireConverter = (): void => requireFfmpeg(ffmpeg, log);
  const fetchFile = createFetching({ http, uploads, looks, turns: fetches, requireConverter, ...limit });

  const explain = (error: unknown): never => {
    throw publicError(error, config.maxMediaBytes);
  };
  const run = <T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    untilStopped(stopping.signal, signal, work).catch(explain);

  async function work(job: Job): Promise<MediaDraft> {
    const { request, workspace, signal } = job;
    const { deviceId, caption, text, url } = request;
    const received = await fetchFile(job);
    const { kind, mimetype, extension, disposition } = received;
    const seen = await looks.see(lookOf(job), received, workspace);
    const sealed = received.sealed ?? (await sealMade(workspace, kind));
    signal.throwIfAborted();
    const facts: FileFacts = {
      kind,
      mimetype,
      ...sealed,
      keyTimestamp: Math.floor(store.now() / 1000),
      ...seen,
    };
    const file = await files.keep(deviceId, workspace.path(SEALED_NAME), facts);
    if (kind === "document") {
      const fileName = documentName(extension, caption, disposition, url);
      return { kind, file, fileName, ...(text && { caption: text }) };
    }
    const captioned = (kind === "image" || kind === "video") && caption !== undefined && caption !== "";
    return captioned ? { kind, file, caption } : { kind, file };
  }

  async function inWorkspace<T>(request: MediaRequest, work: (job: Job) => Promise<T>): Promise<T> {
    const workspace = await files.workspace();
    const account = accountOf(request.deviceId) ?? `number ${request.deviceId}`;
    return run(request.signal, (signal) => work({ request, workspace, account, signal })).finally(
      workspace.dispose,
    );
  }

  return {
    prepare: (request) => inWorkspace(request, work),
    profilePicture: (request) =>
      inWorkspace({ ...request, mediaType: "image" }, async (job) =>
        looks.avatar(lookOf(job), (await fetchFile(job)).clear!),
      ),
    take: (chunks, arrival) => run(arrival.signal, (signal) => intake(chunks, { ...arrival, signal })),
    files,
    hasConverter: () => ffmpeg.find() !== null,
    uploads: { ...uploads, add: (part) => uploads.add(part).catch(explain) },
    stop() {
      stopping.abort(new Error("The gateway is stopping."));
      ffmpeg.stop();
    },
  };
}

function publicError(error: unknown, maxBytes: number): unknown {
  if (error instanceof OutboundError) return refusalOf(error, maxBytes);
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return unavailable("The gateway's disk has no room for the file.");
}

/** @param stopping aborted when the gateway stops; what breaks then is none of the file's faults */
async function untilStopped<T>(
  stopping: AbortSignal,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = abortsWith([stopping, signal]);
  try {
    return await work(ending.signal);
  } catch (error) {
    throw stopping.aborted ? unavailable("The gateway is restarting; try again.") : error;
  } finally {
    ending.release();
  }
}

async function sealMade(workspace: Workspace, kind: MediaKind): Promise<SealedFile> {
  const made = await open(workspace.path(MADE_NAME));
  return sealAll(workspace.path(SEALED_NAME), kind, made.createReadStream() as AsyncIterable<Buffer>);
}

function refusalOf({ problem, message }: OutboundError, maxBytes: number): GatewayError {
  switch (problem) {
    case "too_large":
      return tooLarge(maxBytes);
    case "not_allowed":
      return new GatewayError("URL_NOT_ALLOWED", message);
    case "encoded":
      return new GatewayError("FILE_NOT_USABLE", `${message} The link must answer with the file itself.`);
    default:
      return new GatewayError("FILE_UNREACHABLE", `The file could not be fetched: ${message}`);
  }
}

const tooLarge = (maxBytes: number): GatewayError =>
  new GatewayError(
    "FILE_TOO_LARGE",
    `The file is larger than ${maxBytes} bytes, the limit of MAX_MEDIA_BYTES.`,
  );

const unavailable = (message: string): GatewayError =>
  new GatewayError("UNAVAILABLE", message, { retryAfter: 5 });

function requireFfmpeg(ffmpeg: Ffmpeg, log: Logger): void {
  if (ffmpeg.find() !== null) return;
  log.error("could not make a voice note: install ffmpeg from the system's packages, or set FFMPEG_PATH");
  throw new GatewayError(
    "CONVERTER_MISSING",
    "This gateway has no ffmpeg, which it needs to make voice notes; ask its operator. Mono Ogg/Opus works without it.",
  );
}
