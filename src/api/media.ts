import { plainName } from "../model/file-name.ts";
import { RawResult } from "./envelope.ts";
import type { App } from "./services.ts";
import { notFound } from "./unmatched.ts";

/** What may stand in a header, of what a stranger's phone says a file is. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?:; ?[\w-]{1,50}=[\w.,"+ -]{1,100}){0,3}$/;
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
    "content-type": MEDIA_TYPE.test(mimetype) ? mimetype : "application/octet-stream",
    "content-length": String(size),
    // Messages of earlier versions have the name as it came.
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
