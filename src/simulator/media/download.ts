import { pause } from "../time.ts";
import type { MediaExchange } from "./exchange.ts";
import { troubleFor } from "./exchange.ts";
import type { MediaTrouble } from "./trouble.ts";

/** How often a slowed-down download writes, in milliseconds. */
const TICK_MS = 50;

/** Serves a file, or a range of it: `GET <direct path>`. */
export async function giveFile(exchange: MediaExchange): Promise<void> {
  const { media, time, request, response, url } = exchange;
  const directPath = `${url.pathname}${url.search}`
    .replace(/[?&]mms3=true/, "")
    .replace(/[?&]hash=[^&]*/, "");
  const file = media.find(directPath);
  const type = file?.type ?? "";
  const trouble = troubleFor(exchange, "download", type);
  if (trouble.delayMs) await pause(time, trouble.delayMs);
  const status = trouble.status ?? file?.gone ?? (file ? 200 : 404);
  const range = status === 200 ? rangeOf(request.headers.range, file!.bytes.length) : undefined;
  const body =
    status === 200 ? spoil(file!.bytes.subarray(range?.from, range?.to), trouble) : Buffer.alloc(0);
  media.record({
    direction: "download",
    type,
    status,
    bytes: body.length,
    directPath,
    byPhone: false,
  });
  if (status !== 200) {
    response.writeHead(status).end();
    return;
  }
  const headers = { "content-type": "application/octet-stream", "content-length": String(body.length) };
  const contentRange = range && `bytes ${range.from}-${range.to - 1}/${file!.bytes.length}`;
  response.writeHead(
    range ? 206 : 200,
    contentRange ? { ...headers, "content-range": contentRange } : headers,
  );
  if (trouble.broken === "truncated" || trouble.broken === "stalled") {
    response.write(body.subarray(0, Math.floor(body.length / 2)));
    // Cut off in the middle, or stalled for good: the headers promised more.
    if (trouble.broken === "truncated") time.after(TICK_MS, () => response.destroy());
    return;
  }
  await send(exchange, body, trouble.bytesPerSecond);
}

async function send(
  { response, time }: MediaExchange,
  body: Buffer,
  bytesPerSecond: number | undefined,
): Promise<void> {
  const step = bytesPerSecond ? Math.max(1, Math.floor((bytesPerSecond * TICK_MS) / 1000)) : body.length;
  for (let at = 0; at < body.length && !response.destroyed; at += step) {
    response.write(body.subarray(at, at + step));
    if (bytesPerSecond) await pause(time, TICK_MS);
  }
  response.end();
}

function rangeOf(header: string | undefined, size: number): { from: number; to: number } | undefined {
  const [, from, last] = /^bytes=(\d+)-(\d*)$/.exec(header ?? "") ?? [];
  if (from === undefined) return undefined;
  return { from: Math.min(Number(from), size), to: last ? Math.min(Number(last) + 1, size) : size };
}

function spoil(bytes: Buffer, { broken }: MediaTrouble): Buffer {
  if (broken !== "corrupt" || bytes.length === 0) return bytes;
  const changed = Buffer.from(bytes);
  changed[Math.floor(changed.length / 2)]! ^= 0xff;
  return changed;
}
