import type { Logger } from "../log.ts";
import { GatewayError } from "../model/errors/errors.ts";
import type { FileFacts } from "../model/media/media.ts";
import { unlessAborted } from "../model/shared-abort.ts";
import type { Decoder } from "./decoder/decoder.ts";
import type { Found } from "./decoder/identify.ts";
import { DecoderAway, Unreadable } from "./decoder/process.ts";
import type { Ffmpeg } from "./ffmpeg.ts";
import type { Workspace } from "./files.ts";
import { notUsable, type Received, type Wanted } from "./receive.ts";
import { createShares, type ShareLimits } from "../model/shares/shares.ts";
import { readVideo } from "./video.ts";
import { makeVoiceNote } from "./voice.ts";

/** What is told of a file by those who look into it. */
export type Seen = Pick<FileFacts, "thumbnail" | "width" | "height" | "seconds" | "waveform" | "animated">;

/** For whom a file is looked at, and what it is to be. */
export interface LookRequest extends Wanted {
  /** Whose turn it takes. */
  account: string;
  /** Ends the waiting for a turn. */
  signal: AbortSignal;
}

/** Looks into files of strangers, in processes of their own: an account's after another's, and nobody waits for what takes long. */
export interface Looks {
  /** @throws {GatewayError} FILE_NOT_USABLE, UNAVAILABLE; the reason of the signal */
  identify(request: LookRequest, head: Buffer, tail: Buffer): Promise<Found>;
  /**
   * What only a decoder can tell; voice notes that have to be made are made, and stickers.
   *
   * @throws {GatewayError} FILE_NOT_USABLE, UNAVAILABLE; the reason of the signal
   */
  see(request: LookRequest, received: Received, workspace: Workspace): Promise<Seen>;
  /** A JPEG as profiles have it. @param path of an image @throws {GatewayError} FILE_NOT_USABLE, CONVERTER_MISSING, UNAVAILABLE */
  avatar(request: LookRequest, path: string): Promise<Buffer>;
}

/** Name of the voice note or the sticker that is made, in its workspace. */
export const MADE_NAME = "made";
const NO_IMAGE = "an image that cannot be read";
const NO_STICKER = "an image of which no sticker can be made";
/** How many at once is the decoder's to say: it knows which take long. */
const LOOKS: ShareLimits = { all: Infinity, each: 1 };
/** One at a time, because each may take as much memory as its limit allows; a second for whoever has none. */
const VIDEOS: ShareLimits = { all: 1, each: 1, most: 2 };
/** The same for voice notes, which may take a minute. */
const CONVERSIONS: ShareLimits = { all: 1, each: 1, most: 2 };

interface LooksDeps {
  ffmpeg: Ffmpeg;
  log: Logger;
  decoder: Pick<Decoder, "ask">;
}

/** Starts nothing until there is a file. */
export function createLooks({ ffmpeg, log, decoder }: LooksDeps): Looks {
  const looks = createShares(LOOKS);
  const videos = createShares(VIDEOS);
  const conversions = createShares(CONVERSIONS);

  async function inTurn<T>(
    { account, signal, ...wanted }: LookRequest,
    turns: typeof looks,
    what: string,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      return await unlessAborted(signal, turns(account, work, signal));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Unreadable) throw notUsable(`${what} (${firstLine(error)})`, wanted);
      if (!(error instanceof DecoderAway)) throw error;
      log.error({ err: error }, "cannot read files");
      throw new GatewayError("UNAVAILABLE", "Files cannot be read just now; try again.", {
        retryAfter: 5,
      });
    }
  }

  async function seeVideo({ account, signal }: LookRequest, path: string, frame: string): Promise<Seen> {
    const ofAccount: typeof decoder = {
      ask: (job, asks) => looks(account, () => decoder.ask(job, asks), signal),
    };
    try {
      return await readVideo({ ffmpeg, decoder: ofAccount }, path, frame, signal);
    } catch (error) {
      // A phone may well play what this ffmpeg cannot; a file that is made to exhaust it is not passed on.
      if (!(error instanceof Unreadable) || error.exceeded) throw error;
      log.info({ err: error }, "sending a video without its preview picture");
      return {};
    }
  }

  return {
    identify: (request, head, tail) =>
      inTurn(request, looks, "a file of unknown type", () => decoder.ask("identify", { head, tail })),

    avatar: async (request, path) =>
      Buffer.from(converted(await inTurn(request, looks, NO_IMAGE, () => decoder.ask("avatar", { path })))),

    async see(request, { kind, clear, mimetype, sealed }, workspace) {
      if (clear === null) return {};
      if (kind === "image")
        return inTurn(request, looks, NO_IMAGE, () => decoder.ask("picture", { path: clear }));
      if (kind === "video")
        return inTurn(request, videos, "a video that cannot be read", () =>
          seeVideo(request, clear, workspace.path("frame")),
        );
      if (kind === "sticker") {
        const asks = { path: clear, output: workspace.path(MADE_NAME) };
        return converted(await inTurn(request, looks, NO_STICKER, () => decoder.ask("sticker", asks)));
      }
      const noSound = "sound that cannot be read";
      if (kind === "audio") {
        const { seconds, hasVideo } = await inTurn(request, looks, noSound, () =>
          decoder.ask("sound", { path: clear, mimetype }),
        );
        if (hasVideo) throw notUsable("a video", request);
        return seconds === null ? {} : { seconds };
      }
      const { seconds, waveform } =
        sealed === null
          ? await inTurn(request, conversions, noSound, () =>
              makeVoiceNote(ffmpeg, clear, workspace.path(MADE_NAME), request.signal),
            )
          : await inTurn(request, looks, noSound, () => decoder.ask("opus", { path: clear }));
      return { seconds, waveform: Buffer.from(waveform).toString("base64") };
    },
  };
}

/** @throws CONVERTER_MISSING */
function converted<T>(made: T | null): T {
  if (made !== null) return made;
  throw new GatewayError(
    "CONVERTER_MISSING",
    "This gateway's machine has no program that converts pictures.",
  );
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0]!;
