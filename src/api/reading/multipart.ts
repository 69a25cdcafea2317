import type { Readable } from "node:stream";
import { Busboy } from "@fastify/busboy";
import type { GatewayError } from "../../model/errors/errors.ts";
import { bodyTooLarge, invalidJson, MAX_BODY_BYTES, tooManyFields } from "./body.ts";
import { MAX_PAIRS } from "./form.ts";
import type { HeldBody } from "./held-body.ts";

/** One part of a body. The next one comes when it was read. */
export interface Part {
  /** "" when it has none. */
  name: string;
  /** Null: it is a field. */
  fileName: string | null;
  bytes: AsyncIterable<Buffer>;
}

/** The parts of a `multipart/form-data` body, in their order. */
export interface Parts {
  /**
   * @returns null when all have come
   * @throws INVALID_JSON, INVALID_PARAMETERS for too many parts, BODY_TOO_LARGE, and what `refuse` was given
   */
  next(): Promise<Part | null>;
  /** Nothing more is read: whoever waits for a part, or for bytes of one, gets this. */
  refuse(error: GatewayError): void;
  /** Each piece of the body is waited for within this, from now on. */
  watch(waiting: Wait): void;
}

/** Waits for a piece of a body. */
type Wait = (piece: Promise<Buffer | null>) => Promise<Buffer | null>;
const plainly: Wait = (piece) => piece;

/** Of one part: far more than name and file name take. */
const MAX_HEAD_BYTES = 8_192;
const MAX_HEADERS = 20;
/** What stands between parts, before the first and behind the last is nothing to keep, but it has to be read. */
const MAX_BESIDE_BYTES = 2 * MAX_BODY_BYTES;

const nothing = (): void => undefined;
const notMultipart = (): GatewayError => invalidJson("The body is not valid multipart/form-data.");

/** @param type the request's `Content-Type` @throws INVALID_JSON when it names no boundary */
export function partsOf(body: HeldBody, type: string): Parts {
  const parser = openParser(type);
  const arrived: Part[] = [];
  let open: Readable | null = null;
  let failure: GatewayError | null = null;
  let isOver = false;
  let beside = 0;
  const pieces = watched(body);
  let wake = nothing;

  function refuse(error: GatewayError): void {
    failure ??= error;
    open?.destroy(failure);
    wake();
  }

  async function* bytesOf(stream: Readable): AsyncGenerator<Buffer> {
    open = stream;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        beside -= chunk.length;
        yield chunk;
      }
    } catch {
      // What the parser says of it, or of whom it was taken from.
      throw failure ?? notMultipart();
    }
    if (failure !== null) throw failure;
  }

  async function pump(): Promise<void> {
    for (let piece = await pieces.next(); piece !== null; piece = await pieces.next()) {
      beside += piece.length;
      if (beside > MAX_BESIDE_BYTES) throw bodyTooLarge();
      await new Promise<void>((resolve) => parser.write(piece, () => resolve()));
      if (failure !== null) return;
    }
    parser.end();
  }

  parser
    .on("file", (name: string | undefined, stream, fileName: string | undefined, encoding) => {
      // Whoever listens to nothing of it is not to be ended by what it says.
      stream.on("error", () => undefined);
      if (encoding !== "7bit" && encoding !== "8bit" && encoding !== "binary") refuse(notMultipart());
      arrived.push({ name: name ?? "", fileName: fileName ?? null, bytes: bytesOf(stream) });
      wake();
    })
    .on("partsLimit", () => refuse(tooManyFields("body")))
    .on("error", () => refuse(notMultipart()))
    .on("finish", () => {
      isOver = true;
      wake();
    });

  let pumping: Promise<void> | null = null;
  return {
    refuse,
    watch: pieces.watch,
    async next() {
      pumping ??= pump().catch(refuse);
      for (;;) {
        if (failure !== null) throw failure as GatewayError;
        const part = arrived.shift();
        if (part !== undefined) return part;
        if (isOver) return null;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

/** A body whose pieces somebody may wait for in a way of his own from some moment on. */
function watched(body: HeldBody): Pick<HeldBody, "next"> & Pick<Parts, "watch"> {
  let waitFor: Wait = plainly;
  let pending: Promise<Buffer | null> | null = null;
  return {
    async next() {
      pending = body.next();
      const piece = await waitFor(pending);
      pending = null;
      return piece;
    },
    watch(waiting) {
      waitFor = waiting;
      // The one that is waited for already counts as well.
      if (pending !== null) void waiting(pending).catch(() => undefined);
    },
  };
}

function openParser(type: string): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { "content-type": type },
      limits: { parts: MAX_PAIRS + 1, headerPairs: MAX_HEADERS, headerSize: MAX_HEAD_BYTES },
      // Their bytes are looked at here, whatever they say of themselves.
      isPartAFile: () => true,
    });
  } catch {
    throw notMultipart();
  }
}
