import type { GivenFile, MediaRequest, MediaType } from "../../../model/media/media.ts";
import type { MediaKind } from "../../../model/messages.ts";
import type { JsonResult } from "../../answers/envelope.ts";
import { whileCallerWaits } from "./caller-waits.ts";
import { requireOnce, send, type SendCall } from "../send.ts";

/** What `/send-media` takes beside what every send takes. */
interface MediaInput {
  media_type: MediaType;
  /** One of them is there, or the file has come by itself. */
  url?: string | undefined;
  data?: string | undefined;
  caption?: string | undefined;
  filename?: string | undefined;
  ptt?: string | undefined;
}

/** Whoever asks for a file to be fetched waits for it. */
type FetchingCall = SendCall & { file: GivenFile | null; event: { req: { signal: AbortSignal } } };

/**
 * Fetches the file once nothing else can refuse the request, and sends it to all destinations. A caller who leaves before
 * the file is there takes its download with him: nothing was stored, nothing is sent.
 */
export function sendMediaOf(call: FetchingCall & { input: MediaInput }): Promise<JsonResult> {
  const { media_type: mediaType, url = "", data, ptt, view_once: viewOnce } = call.input;
  requireOnce(viewOnce, shownAs(mediaType, ptt));
  return send(call, (device) =>
    whileCallerWaits(call.event.req.signal, (signal) =>
      call.app.files.prepare({
        deviceId: device.id,
        mediaType,
        url,
        signal,
        ...(data === undefined ? {} : { bytes: Buffer.from(data, "base64") }),
        ...(call.file === null ? {} : { given: call.file }),
        ...wordsOf(call.input),
        ...(ptt === undefined ? {} : { ptt }),
      }),
    ),
  );
}

/** The same for a sticker; see {@link sendMediaOf}. */
export function sendStickerOf(call: FetchingCall & { input: { url: string } }): Promise<JsonResult> {
  const { url, view_once: viewOnce } = call.input;
  requireOnce(viewOnce, "sticker");
  return send(call, ({ id: deviceId }) =>
    whileCallerWaits(call.event.req.signal, (signal) =>
      call.app.files.prepare({ deviceId, mediaType: "sticker", url, signal }),
    ),
  );
}

/** What the phone gets. */
function shownAs(mediaType: MediaType, ptt: string | undefined): MediaKind {
  if (mediaType === "image" || mediaType === "video") return mediaType;
  if (mediaType !== "audio" && mediaType !== "mp3") return "document";
  return ptt === "vn" ? "voice" : "audio";
}

/** The caption of a document is its name, unless that is given. */
function wordsOf({
  media_type: mediaType,
  caption,
  filename,
}: MediaInput): Pick<MediaRequest, "caption" | "text"> {
  const isNamed = filename !== undefined && filename.trim() !== "" && !CAPTIONED.has(mediaType);
  if (!isNamed) return caption === undefined ? {} : { caption };
  return { caption: filename, ...(caption === undefined ? {} : { text: caption }) };
}

/** Types that have no file name. */
const CAPTIONED: ReadonlySet<MediaType> = new Set(["image", "video", "audio"]);
