import { isUtf8 } from "node:buffer";
import type { H3Event } from "h3";
import { GatewayError } from "../../model/errors/errors.ts";
import { MINUTE_MS, systemTime } from "../../model/time.ts";
import { createPace, type LeastRate } from "../../net/pace.ts";
import { bodyTooLarge, invalidJson, MAX_BODY_BYTES, requirePlain, tooManyFields } from "./body.ts";
import { decodeForm } from "./form.ts";
import { holdBody } from "./held-body.ts";
import { partsOf, type Part, type Parts } from "./multipart.ts";

/** The file of a request, of which nothing but its beginning has come. */
export class FilePart {
  /** What it is called; "" when nobody says. */
  readonly fileName: string;
  /** Bytes of the whole request, as its head says; null when it does not. */
  readonly announced: number | null;
  readonly #read: () => AsyncIterable<Buffer>;
  readonly #leave: () => void;

  constructor(
    { fileName, announced }: Pick<FilePart, "fileName" | "announced">,
    read: () => AsyncIterable<Buffer>,
    leave: () => void,
  ) {
    this.fileName = fileName;
    this.announced = announced;
    this.#read = read;
    this.#leave = leave;
  }

  /**
   * Its bytes, as fast as they are taken. To be asked for once, by whoever has checked all else of the request.
   *
   * @throws REQUEST_TIMEOUT when they come too slowly, INVALID_PARAMETERS for a part behind it, INVALID_JSON
   */
  bytes(): AsyncIterable<Buffer> {
    return this.#read();
  }

  /** Whether it was read or not: what is left of the request means nothing. */
  leave(): void {
    this.#leave();
  }
}

/** The part that is the file; all others are fields. */
const FILE = "file";

/** The file among the fields of a request; null when there is none. */
export function filePartIn(fields: Record<string, unknown>): FilePart | null {
  const file = fields[FILE];
  return file instanceof FilePart ? file : null;
}

/** How long a file may take to come. */
export interface FileTimes {
  leastRate: LeastRate;
  wholeMs: number;
}

const TIMES: FileTimes = { leastRate: { bytes: 80 * 1024, withinMs: 10_000 }, wholeMs: 15 * MINUTE_MS };

/** Whether a `Content-Type` is that of a form with files. */
export const isMultipart = (type: string): boolean => /^\s*multipart\/form-data\s*(;|$)/i.test(type);

/**
 * Reads the fields of a request, up to its file.
 *
 * @returns the fields as those of any form, and the file, if there is one, as `file`
 * @throws INVALID_JSON, INVALID_PARAMETERS for too many, BODY_TOO_LARGE
 */
export async function readMultipart(
  event: H3Event,
  lists: ReadonlySet<string>,
  times: FileTimes = TIMES,
): Promise<Record<string, unknown>> {
  requirePlain(event);
  const { headers } = event.req;
  const body = holdBody(event);
  try {
    const parts = partsOf(body, headers.get("content-type")!);
    const { fields, file } = await readFields(parts, lists);
    if (file === null) return fields;
    const announced = Number(headers.get("content-length") ?? Number.NaN);
    const about = { fileName: file.fileName ?? "", announced: Number.isNaN(announced) ? null : announced };
    const read = (): AsyncIterable<Buffer> => {
      body.stream();
      return streamed(parts, file, times);
    };
    return { ...fields, [FILE]: new FilePart(about, read, body.leave) };
  } catch (error) {
    body.leave();
    throw error;
  }
}

async function readFields(
  parts: Parts,
  lists: ReadonlySet<string>,
): Promise<{ fields: Record<string, unknown>; file: Part | null }> {
  const pairs: string[] = [];
  let size = 0;
  let part = await parts.next();
  for (; part !== null && part.name !== FILE; part = await parts.next()) {
    if (part.fileName !== null)
      throw new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", {
        fields: { [part.name]: [`Is a file: the part with the file is called ${FILE}.`] },
      });
    const pieces: Buffer[] = [];
    size += part.name.length;
    for await (const piece of part.bytes) {
      pieces.push(piece);
      size += piece.length;
      if (size > MAX_BODY_BYTES) throw bodyTooLarge();
    }
    const value = Buffer.concat(pieces);
    if (!isUtf8(value)) throw invalidJson("The body is not UTF-8.");
    pairs.push(`${encodeURIComponent(part.name)}=${encodeURIComponent(value.toString("utf8"))}`);
  }
  const form = decodeForm(pairs.join("&"), lists);
  if (form === null) throw tooManyFields("body");
  return { fields: form.fields, file: part };
}

/** The file to its end, and proof that nothing stands behind it. */
async function* streamed(
  parts: Parts,
  file: Part,
  { leastRate, wholeMs }: FileTimes,
): AsyncGenerator<Buffer> {
  const pace = createPace(systemTime, leastRate, () => parts.refuse(tooSlow()));
  pace.came(0);
  parts.watch((piece) => pace.whileWaiting(piece));
  const cancel = systemTime.after(wholeMs, () => parts.refuse(tooSlow()));
  try {
    for await (const piece of file.bytes) {
      pace.came(piece.length);
      yield piece;
    }
    const behind = await parts.next();
    if (behind !== null)
      throw new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", {
        fields: {
          [behind.name]: [
            behind.name === FILE ? "There is more than one." : "Stands behind the file: send it before.",
          ],
        },
      });
  } finally {
    cancel();
  }
}

const tooSlow = (): GatewayError =>
  new GatewayError("REQUEST_TIMEOUT", "The file arrived too slowly; send it again.");
