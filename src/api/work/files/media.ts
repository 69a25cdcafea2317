import { plainName } from "../../../model/media/file-name.ts";
import { plainMediaType } from "../../../model/media/media-type.ts";
import { RawResult } from "../../answers/envelope.ts";
import type { App } from "../../services.ts";
import { notFound } from "../../answers/unmatched.ts";

const ENDINGS = { image: "jpg", sticker: "webp", video: "mp4", audio: "m4a", voice: "ogg", document: "bin" };

/**
 * The file behind a signed address. It came from a stranger: browsers are told to save it and to run nothing of it.
 *
 * @throws {GatewayError} NOT_FOUND for a wrong or expired address; why it cannot be had
 */
export async function giveMedia(app: App, token: string): Promise<RawResult> {
  const file = await app.media.open(token);
  if (file === null) throw notFound();
  const { mimetype, fileName, kind, size, body } = file;
  return new RawResult(asStream(body), {
    // Messages of earlier versions have type and name as they came.
    "content-type": plainMediaType(mimetype) ?? "application/octet-stream",
    "content-length": String(size),
    "content-disposition": disposition(plainName(fileName) || `${kind}.${ENDINGS[kind]}`),
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
    "referrer-policy": "no-referrer",
  });
}

/** RFC 6266: the name in ASCII for old clients, and as it is. */
function disposition(fileName: string): string {
  const plain = fileName.replaceAll(/[^\x20-\x7e]|["\\%/]/g, "_").slice(0, 150);
  const exact = encodeURIComponent(fileName).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}

/** An error in it cuts the connection off, so that nobody takes what came for the whole file. */
export function asStream(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}
