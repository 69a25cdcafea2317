import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { H3Event } from "h3";
import { SECOND_MS, systemTime } from "../../model/time.ts";
import { endedEarly, MAX_DISCARDED_BYTES } from "./body.ts";
import { AT_ONCE_BYTES, inTurn } from "./turns.ts";

/**
 * How a request's body is read, for whoever guards the connections. `held`: its reader stops it between two pieces, and
 * nobody else may let it go on. `streamed`: it also takes its time, and no more memory than one piece.
 */
export type Reading = "held" | "streamed";

const readings = new WeakMap<IncomingMessage, Reading>();

/** Null: as it comes. */
export const readingOf = (request: IncomingMessage): Reading | null => readings.get(request) ?? null;

/** The body of a request, piece by piece: the next one comes when it is asked for. */
export interface HeldBody {
  /** @returns null at its end @throws INVALID_JSON when the caller has gone before that */
  next(): Promise<Buffer | null>;
  /** From now on nobody limits how long it takes, or what it holds, but its reader. */
  stream(): void;
  /** What is left of it is thrown away, so that the answer can be read. */
  leave(): void;
}

/** Whoever was refused is given so long to end. */
const LEAVES_WITHIN_MS = 10 * SECOND_MS;

/** Takes a body that nobody has begun to read. */
export function holdBody(event: H3Event): HeldBody {
  const request = event.runtime?.node?.req as IncomingMessage | undefined;
  // `nitro dev` hands requests over without a socket.
  const source = request ?? Readable.from((event.req.body ?? []) as AsyncIterable<Uint8Array>);
  let waiting: { resolve(piece: Buffer | null): void; reject(error: Error): void } | null = null;
  let end: null | "ended" | "broken" = null;
  let discarded: number | null = null;
  let read = 0;
  const goOn = (): void => void source.resume();
  if (request !== undefined) readings.set(request, "held");

  function finish(how: "ended" | "broken"): void {
    end ??= how;
    if (end === "ended") waiting?.resolve(null);
    else waiting?.reject(endedEarly());
    waiting = null;
  }
  source
    .pause()
    .on("data", (chunk: Uint8Array) => {
      if (discarded !== null) {
        discarded += chunk.length;
        if (discarded > MAX_DISCARDED_BYTES) source.destroy();
        return;
      }
      source.pause();
      read += chunk.length;
      waiting?.resolve(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      waiting = null;
    })
    .once("end", () => finish("ended"))
    .once("close", () => finish("broken"))
    .on("error", () => finish("broken"));

  return {
    next() {
      if (end === "ended") return Promise.resolve(null);
      if (end === "broken") return Promise.reject(endedEarly());
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        if (read > AT_ONCE_BYTES) inTurn(goOn);
        else goOn();
      });
    },
    stream() {
      if (request !== undefined) readings.set(request, "streamed");
    },
    leave() {
      if (request !== undefined) readings.delete(request);
      if (end !== null || discarded !== null) return;
      discarded = 0;
      source.resume();
      const cancel = systemTime.after(LEAVES_WITHIN_MS, () => source.destroy());
      source.once("close", cancel).once("end", cancel);
    },
  };
}
