import type { MediaType } from "../model/media.ts";
import type { JsonResult } from "./envelope.ts";
import { send, type SendCall } from "./send.ts";

/** What `/send-media` takes beside what every send takes. */
interface MediaInput {
  media_type: MediaType;
  url: string;
  caption?: string | undefined;
  ptt?: string | undefined;
}

/** Fetches the file once nothing else can refuse the request, and sends it to all destinations. */
export function sendMediaOf(call: SendCall & { input: MediaInput }): Promise<JsonResult> {
  const { media_type: mediaType, url, caption, ptt } = call.input;
  return send(call, (device) =>
    call.app.files.prepare({
      deviceId: device.id,
      mediaType,
      url,
      ...(caption === undefined ? {} : { caption }),
      ...(ptt === undefined ? {} : { ptt }),
    }),
  );
}
