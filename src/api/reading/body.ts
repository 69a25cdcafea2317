import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { H3Event } from "h3";
import { tooMuchIn } from "../../model/content/json-shape.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import { decodeForm, MAX_PAIRS } from "./form.ts";

/** 1 MiB: a longer body is refused before it is read to its end. */
export const MAX_BODY_BYTES = 1_048_576;
/** No request needs more than a few of either. What is nested deeper than a stack is high cannot be written down again, nor compared. */
const MOST = { levels: 64, values: 100_000 };
/** What is read and thrown away after a refusal, so that the caller's upload ends and the answer can be read. */
export const MAX_DISCARDED_BYTES = 67_108_864;

const FORM = "application/x-www-form-urlencoded";
const JSON_TYPES = new Set(["application/json", "text/plain", ""]);

/**
 * The fields of a request body.
 *
 * @param lists names of fields that are lists, for form bodies
 * @returns an object; `{}` when there is no body at all
 * @throws BODY_TOO_LARGE, UNSUPPORTED_CONTENT_TYPE, INVALID_JSON
 */
export async function readBodyFields(
  event: H3Event,
  lists: ReadonlySet<string>,
): Promise<Record<string, unknown>> {
  const bytes = await readBytes(event);
  const type = contentType(event);
  if (bytes.length === 0) return {};
  const text = decodeUtf8(bytes);
  if (type !== FORM || text.trimStart().startsWith("{")) return parseObject(text);
  const form = decodeForm(text.trim(), lists);
  if (form === null) throw tooManyFields("body");
  if (form.notUtf8.length > 0) throw invalidJson("The body is not UTF-8.");
  return form.fields;
}

function contentType(event: H3Event): string {
  const header = event.req.headers.get("content-type") ?? "";
  const type = header.split(";", 1)[0]!.trim().toLowerCase();
  requirePlain(event);
  if (type === FORM || JSON_TYPES.has(type)) return type;
  throw unsupported(`Content-Type ${type} is not accepted; send application/json or ${FORM}.`);
}

/** @throws UNSUPPORTED_CONTENT_TYPE for a body that is encoded */
export function requirePlain(event: H3Event): void {
  const encoding = event.req.headers.get("content-encoding")?.trim().toLowerCase() || "identity";
  if (encoding !== "identity")
    throw unsupported(`Content-Encoding ${encoding} is not accepted; send the body as it is.`);
}

function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalidJson("The body is not UTF-8.");
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
}

function parseObject(text: string): Record<string, unknown> {
  const tooMuch = tooMuchIn(text, MOST);
  if (tooMuch === "levels") throw invalidJson(`The body is nested deeper than ${MOST.levels} levels.`);
  if (tooMuch === "values") throw invalidJson(`The body has more than ${MOST.values} values.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidJson("The body is not valid JSON.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidJson("The body must be a JSON object.");
  return value as Record<string, unknown>;
}

function readBytes(event: H3Event): Promise<Buffer> {
  const request = event.runtime?.node?.req as IncomingMessage | undefined;
  return request === undefined ? readWebBytes(event) : readNodeBytes(request);
}

/** Reads the socket itself: the Web stream in between costs more than the whole parsing. */
function readNodeBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = createCollector();
    let size = 0;
    const tooLarge = Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES && !tooLarge) body.add(chunk);
      else reject(bodyTooLarge());
      if (size > MAX_DISCARDED_BYTES) request.destroy();
    });
    request.once("end", () => resolve(body.bytes()));
    request.once("error", () => reject(endedEarly()));
    request.once("close", () => reject(endedEarly()));
    if (tooLarge) reject(bodyTooLarge());
  });
}

/** Smaller pieces are copied together: a mebibyte that comes byte by byte would otherwise be a million buffers. */
const SMALL_BYTES = 2_048;
const SLAB_BYTES = 16_384;

function createCollector(): { add(chunk: Buffer): void; bytes(): Buffer } {
  const pieces: Buffer[] = [];
  let slab = Buffer.alloc(0);
  let used = 0;
  const endSlab = (): void => {
    if (used > 0) pieces.push(slab.subarray(0, used));
    slab = slab.subarray(used);
    used = 0;
  };
  return {
    add(chunk) {
      if (chunk.length > SMALL_BYTES) {
        endSlab();
        pieces.push(chunk);
        return;
      }
      if (used + chunk.length > slab.length) {
        endSlab();
        slab = Buffer.allocUnsafe(SLAB_BYTES);
      }
      used += chunk.copy(slab, used);
    },
    bytes() {
      endSlab();
      return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    },
  };
}

/** `nitro dev` hands requests over without a socket. */
async function readWebBytes(event: H3Event): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of event.req.body ?? []) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw bodyTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A form that is far larger than any endpoint's: nothing of it was decoded. */
export const tooManyFields = (where: "body" | "query"): GatewayError =>
  new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", {
    fields: { [where]: [`Has more than ${MAX_PAIRS} fields.`] },
  });
/** The caller has gone before the body was there. */
export const endedEarly = (): GatewayError => invalidJson("The body ended early.");
/** What came is no body of the kind that it says. */
export const invalidJson = (message: string): GatewayError => new GatewayError("INVALID_JSON", message);
const unsupported = (message: string): GatewayError => new GatewayError("UNSUPPORTED_CONTENT_TYPE", message);
/** 413 of what is no file. */
export const bodyTooLarge = (): GatewayError =>
  new GatewayError("BODY_TOO_LARGE", "The body is larger than 1 MiB (1,048,576 bytes).");
