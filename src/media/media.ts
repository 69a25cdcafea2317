import { open } from "node:fs/promises";
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors.ts";
import type { FileFacts, MediaRequest, OutgoingFiles } from "../model/media.ts";
import type { MediaDraft } from "../model/messages.ts";
import { OutboundError } from "../net/errors.ts";
import type { Download } from "../net/download.ts";
import type { SafeFetch } from "../net/safe-fetch.ts";
import type { Store } from "../store/store.ts";
import { createFfmpeg, FfmpegFailed } from "./ffmpeg.ts";
import { createFiles, type Workspace } from "./files.ts";
import { documentName } from "./names.ts";
import { BrokenOgg, measureOpus } from "./ogg.ts";
import { readImage, readVideo } from "./pictures.ts";
import { notUsable, receive, SEALED_NAME, type Received } from "./receive.ts";
import { openSealedWriter, type SealedFile } from "./seal.ts";
import { readSound } from "./sound.ts";
import { createTurns } from "./turns.ts";
import { makeVoiceNote } from "./voice.ts";
import { sharedAbort } from "../model/shared-abort.ts";

interface MediaDeps {
  store: Store;
  config: Pick<Config, "dataDir" | "maxMediaBytes" | "ffmpegPath">;
  log: Logger;
  http: Pick<SafeFetch, "download">;
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
  /** For connections: what is sent, and where it was uploaded. */
  files: OutgoingFiles;
  /** Ends downloads and converters. */
  stop(): void;
}

const FIRST_BYTE_MS = 30_000;
const WHOLE_FILE_MS = 5 * 60_000;
const MAX_REDIRECTS = 5;
/** More wait for their turn: each holds a connection and buffers. */
const MAX_FETCHES = 24;
const MAX_FETCHES_OF_ONE = 4;
const MAX_DECODERS = 2;
const MAX_DECODERS_OF_ONE = 1;

/** Files to be sent, with a limit on how many are fetched and decoded at once, in all and for one number. */
export function createMedia({ store, config, log, http }: MediaDeps): Media {
  const files = createFiles(store, config.dataDir);
  const ffmpeg = createFfmpeg(config.ffmpegPath);
  const fetches = createTurns(MAX_FETCHES, MAX_FETCHES_OF_ONE);
  const decoders = createTurns(MAX_DECODERS, MAX_DECODERS_OF_ONE);
  const stopping = sharedAbort();

  function requireConverter(): void {
    if (ffmpeg.find() !== null) return;
    throw new GatewayError(
      "CONVERTER_MISSING",
      "Voice notes are made by ffmpeg, and there is none. Install it (apt-get install ffmpeg), or name it in FFMPEG_PATH, " +
        "or run npm install @ffmpeg-installer/ffmpeg. Mono Ogg/Opus needs no converter.",
    );
  }

  function fetchFile(request: MediaRequest, workspace: Workspace): Promise<Received> {
    if (request.bytes === undefined) return download(request, workspace);
    if (request.bytes.length > config.maxMediaBytes) throw tooLarge(config.maxMediaBytes);
    return receive(request, given(request.bytes), workspace, requireConverter);
  }

  const download = (request: MediaRequest, workspace: Workspace): Promise<Received> =>
    fetches(request.deviceId, () =>
      http.download(
        request.url,
        {
          firstByteMs: FIRST_BYTE_MS,
          totalMs: WHOLE_FILE_MS,
          maxBytes: config.maxMediaBytes,
          maxRedirects: MAX_REDIRECTS,
          signal: request.signal ?? stopping.signal,
        },
        (answer) => receive(request, answer, workspace, requireConverter),
      ),
    );

  /** What only a decoder can tell. @throws FILE_NOT_USABLE */
  async function look({ kind, clear, mimetype, sealed }: Received, workspace: Workspace, mediaType: string) {
    if (clear === null) return {};
    if (kind === "image")
      return readImage(clear).catch((error: Error) => {
        throw notUsable(`an image that cannot be read (${firstLine(error)})`, mediaType);
      });
    if (kind === "video")
      // A phone may well play what this ffmpeg cannot.
      return readVideo(ffmpeg, clear).catch((error: Error) => {
        log.info({ err: error }, "a video is sent without its picture");
        return {};
      });
    if (kind === "audio") {
      const { seconds, hasVideo } = await readSound(clear, mimetype);
      if (hasVideo) throw notUsable("a video", mediaType);
      return seconds === null ? {} : { seconds };
    }
    const note = sealed === null ? makeVoiceNote(ffmpeg, clear, workspace.path("voice")) : measureOpus(clear);
    const { seconds, waveform } = await note.catch((error: unknown) => {
      if (error instanceof BrokenOgg || (error instanceof FfmpegFailed && !stopping.signal.aborted))
        throw notUsable(`sound that cannot be read (${firstLine(error)})`, mediaType);
      throw error;
    });
    return { seconds, waveform: waveform.toString("base64") };
  }

  async function work(request: MediaRequest, workspace: Workspace): Promise<MediaDraft> {
    const { deviceId, mediaType, caption, text, url } = request;
    const received = await fetchFile(request, workspace);
    const { kind, mimetype, extension, disposition } = received;
    const seen = await decoders(deviceId, () => look(received, workspace, mediaType));
    const sealed = received.sealed ?? (await sealVoice(workspace));
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

  return {
    async prepare(request) {
      const workspace = await files.workspace();
      try {
        return await work(request, workspace);
      } catch (error) {
        throw stopping.signal.aborted
          ? unavailable("The gateway is restarting; try again.")
          : publicError(error);
      } finally {
        await workspace.dispose();
      }
    },
    files,
    stop() {
      stopping.abort(new Error("The gateway is stopping."));
      ffmpeg.stop();
    },
  };

  function publicError(error: unknown): unknown {
    if (error instanceof OutboundError) return refusalOf(error, config.maxMediaBytes);
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOSPC" && code !== "EDQUOT") return error;
    return unavailable("There is no room for the file on the gateway's disk.");
  }
}

async function sealVoice(workspace: Workspace): Promise<SealedFile> {
  const source = await open(workspace.path("voice"));
  const sealed = await openSealedWriter(workspace.path(SEALED_NAME), "voice");
  try {
    for await (const chunk of source.createReadStream() as AsyncIterable<Buffer>) await sealed.write(chunk);
    return await sealed.finish();
  } finally {
    await sealed.close();
  }
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
    `The file is larger than ${maxBytes} bytes, which is what MAX_MEDIA_BYTES allows.`,
  );

/** A file that is at hand, as if it had been downloaded. */
function given(bytes: Uint8Array): Download {
  async function* body(): AsyncGenerator<Buffer> {
    yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  return { url: "", body: body(), header: () => null };
}

const unavailable = (message: string): GatewayError =>
  new GatewayError("UNAVAILABLE", message, { retryAfter: 5 });

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0]!;
