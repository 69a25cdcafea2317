import { GatewayError } from "../../model/errors/errors.ts";
import type { MediaType } from "../../model/media/media.ts";
import type { JsonResult } from "../answers/envelope.ts";
import { send, type SendCall } from "./send.ts";

/** What `/send-media` takes beside what every send takes. */
interface MediaInput {
  media_type: MediaType;
  url: string;
  caption?: string | undefined;
  ptt?: string | undefined;
}

/**
 * Fetches the file once nothing else can refuse the request, and sends it to all destinations. A caller who leaves before
 * the file is there takes its download with him: nothing was stored, nothing is sent.
 */
export function sendMediaOf(
  call: SendCall & { input: MediaInput; event: { req: { signal: AbortSignal } } },
): Promise<JsonResult> {
  const { media_type: mediaType, url, caption, ptt } = call.input;
  return send(call, (device) =>
    whileCallerWaits(call.event.req.signal, (signal) =>
      call.app.files.prepare({
        deviceId: device.id,
        mediaType,
        url,
        signal,
        ...(caption === undefined ? {} : { caption }),
        ...(ptt === undefined ? {} : { ptt }),
      }),
    ),
  );
}

/** Nobody reads the reason; it says that this is no fault of the gateway's. */
async function whileCallerWaits<T>(
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const leave = (): void =>
    ending.abort(new GatewayError("FILE_UNREACHABLE", "The caller disconnected before the file arrived."));
  if (caller.aborted) leave();
  caller.addEventListener("abort", leave, { once: true });
  try {
    return await work(ending.signal);
  } finally {
    caller.removeEventListener("abort", leave);
  }
}
