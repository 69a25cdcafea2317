import { pause } from "../time.ts";
import { troubleFor } from "./exchange.ts";
import type { MediaExchange } from "./exchange.ts";
import { uploadName } from "./store.ts";
import { thumbnailOf } from "./thumbnail.ts";

/** The real service's limit for one file, told in `media_conn`. */
export const MAX_FILE_BYTES = 104_857_600;

const KINDS = ["image", "video", "audio", "document", "ptt", "gif", "ptv", "sticker", "thumbnail-link"];
/** Upload paths, and the type of file that each takes. */
const PATHS = new Map([
  ...[...KINDS, "md-app-state", "md-msg-hist"].map((kind): [string, string] => [`/mms/${kind}`, kind]),
  ...KINDS.map((kind): [string, string] => [`/newsletter/newsletter-${kind}`, `newsletter-${kind}`]),
]);

/** Takes a file: `POST <path>/<SHA-256 of the body>?auth=…&token=…` gives `{url, direct_path}`. */
export async function takeUpload(exchange: MediaExchange): Promise<void> {
  const { media, time, request, response, url } = exchange;
  const slash = url.pathname.lastIndexOf("/");
  const type = PATHS.get(url.pathname.slice(0, slash));
  const trouble = troubleFor(exchange, "upload", type ?? "");
  const body = await readBody(exchange, trouble.bytesPerSecond);
  if (trouble.delayMs) await pause(time, trouble.delayMs);
  const status = trouble.status ?? statusFor(exchange, type, body);
  if (status !== 200) {
    media.record({
      direction: "upload",
      type: type ?? "",
      status,
      bytes: body.length,
      byPhone: false,
    });
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ status }));
    request.destroy();
    return;
  }
  const { directPath } = media.put(type!, body);
  media.record({
    direction: "upload",
    type: type!,
    status,
    bytes: body.length,
    directPath,
    byPhone: false,
  });
  const answer: Record<string, unknown> = {
    url: `${media.origin}${directPath}&mms3=true`,
    direct_path: directPath,
  };
  if (type!.startsWith("newsletter-")) answer.handle = uploadName(Buffer.from(directPath));
  if (url.searchParams.get("server_thumb_gen") === "1")
    answer.thumbnail_info = await thumbnailOf(media, type!, body);
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

async function readBody({ request, time }: MediaExchange, bytesPerSecond?: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    // A body that is too large is still read to its end, so that the client can read the answer; it is not kept.
    if (size <= MAX_FILE_BYTES + 1) parts.push(part);
    if (bytesPerSecond) await pause(time, (part.length / bytesPerSecond) * 1000);
  }
  return Buffer.concat(parts);
}

/** 200, or why the upload is refused. */
function statusFor(
  { media, violations, url }: MediaExchange,
  type: string | undefined,
  body: Buffer,
): number {
  const given = url.pathname.slice(url.pathname.lastIndexOf("/") + 1).replaceAll("=", "");
  const report = (rule: string, detail: string): void =>
    violations.report(rule, "media host", `${url.pathname}: ${detail}`);
  if (type === undefined) {
    report("media_path", "no kind of file is uploaded there");
    return 404;
  }
  if (!media.isToken(url.searchParams.get("auth"))) {
    report("media_auth", "the auth of the upload was never given out");
    return 401;
  }
  if (body.length > MAX_FILE_BYTES) return 413;
  if (given !== uploadName(body) || url.searchParams.get("token")?.replaceAll("=", "") !== given) {
    report("media_hash", `the name does not belong to the ${body.length} bytes`);
    return 400;
  }
  return 200;
}
