import { MAX_FILE_BYTES } from "../../media/upload.ts";
import { element } from "../../wire/nodes.ts";
import { IqError, MalformedIq } from "../iq-error.ts";
import type { MediaStore } from "../../media/store.ts";
import type { MediaRetry } from "../delivery/media-retry.ts";
import type { IqHandler } from "./handler.ts";

interface Needs extends Pick<MediaRetry, "answerCompanion"> {
  media: MediaStore;
}

/** Where to upload files, and with which token (`w:m`). */
export const createMediaHandlers = ({ media, answerCompanion }: Needs): IqHandler[] => [
  {
    xmlns: "w:m",
    type: "set",
    child: "media_conn",
    answer({ device }) {
      const auth = media.tokenFor(device.label);
      const { host: hostname } = new URL(media.origin);
      const host = element("host", { hostname, maxContentLengthBytes: String(MAX_FILE_BYTES) });
      return [element("media_conn", { auth, ttl: "300", auth_ttl: "21600", max_buckets: "12" }, [host])];
    },
  },
  {
    xmlns: "w:m",
    type: "set",
    child: "mediaretry",
    answer({ device, body }) {
      if (device.id !== 0) throw new MalformedIq("only a phone stores files again");
      if (!answerCompanion(device, body)) throw new IqError(404, "item-not-found");
      return [];
    },
  },
];
