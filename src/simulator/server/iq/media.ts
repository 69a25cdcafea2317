import { MAX_FILE_BYTES } from "../../media/upload.ts";
import { element } from "../../wire/nodes.ts";
import { IqError, MalformedIq } from "../iq-error.ts";
import { answerCompanion } from "../media-retry.ts";
import type { IqHandler } from "./handler.ts";

/** Where files are uploaded to, and with which word. */
export const mediaHandlers: IqHandler[] = [
  {
    xmlns: "w:m",
    type: "set",
    child: "media_conn",
    answer({ server, device }) {
      const auth = server.media.tokenFor(device.label);
      const { host: hostname } = new URL(server.media.origin);
      const host = element("host", { hostname, maxContentLengthBytes: String(MAX_FILE_BYTES) });
      return [element("media_conn", { auth, ttl: "300", auth_ttl: "21600", max_buckets: "12" }, [host])];
    },
  },
  {
    xmlns: "w:m",
    type: "set",
    child: "mediaretry",
    answer({ server, device, body }) {
      if (device.id !== 0) throw new MalformedIq("only a phone stores files again");
      if (!answerCompanion(server, device, body)) throw new IqError(404, "item-not-found");
      return [];
    },
  },
];
