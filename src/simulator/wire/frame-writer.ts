import type { WebSocket } from "ws";
import type { Cancel, Time } from "../time.ts";

/** What goes wrong with a frame on its way to the client. */
export interface FrameTrouble {
  /** Bytes in one WebSocket message. Default: the whole frame. */
  pieceBytes?: number;
  /** Default: as fast as it goes. */
  bytesPerSecond?: number;
  /** The frame waits so many milliseconds for others, to share a WebSocket message with them. */
  packMs?: number;
  /** Only the first half is sent; the connection then ends in this way. */
  truncate?: "close" | "cut";
  /** One byte is wrong. */
  corrupt?: boolean;
}

/** Bytes to be sent in pieces. */
interface Parcel {
  bytes: Buffer;
  pieceBytes: number;
  msPerPiece: number;
  last?: "close" | "cut";
}

/** Writes frames to a WebSocket in order, whatever goes wrong with each of them. */
export class FrameWriter {
  readonly #socket: WebSocket;
  readonly #time: Time;
  readonly #end: (how: "close" | "cut") => void;
  #parcels: Parcel[] = [];
  #packed: Buffer[] = [];
  #stopPacking: Cancel | undefined;
  #stopWaiting: Cancel | undefined;
  /** Milliseconds that pieces should have taken and that have not been waited for yet. */
  #debtMs = 0;
  #paused = false;
  #finish: (() => void) | undefined;

  /** @param end  ends the connection after a truncated frame */
  constructor(socket: WebSocket, time: Time, end: (how: "close" | "cut") => void) {
    this.#socket = socket;
    this.#time = time;
    this.#end = end;
  }

  /** Writes one frame after all that came before it. */
  write(framed: Buffer, trouble: FrameTrouble = {}): void {
    const bytes = trouble.corrupt ? corrupted(framed) : framed;
    if (trouble.packMs !== undefined && !trouble.truncate) {
      this.#packed.push(bytes);
      this.#stopPacking ??= this.#time.after(trouble.packMs, () => this.#unpack());
      return;
    }
    this.#unpack();
    const sent = trouble.truncate ? bytes.subarray(0, Math.ceil(bytes.length / 2)) : bytes;
    const pieceBytes = trouble.pieceBytes ?? sent.length;
    const msPerPiece = trouble.bytesPerSecond ? (pieceBytes * 1000) / trouble.bytesPerSecond : 0;
    this.#queue({ bytes: sent, pieceBytes, msPerPiece, last: trouble.truncate });
  }

  /** True when nothing is left to write. */
  get isIdle(): boolean {
    return this.#parcels.length === 0 && this.#packed.length === 0;
  }

  /** Stops writing for now; whatever comes is kept. */
  pause(): void {
    this.#paused = true;
  }

  /** Ends the pause. */
  resume(): void {
    this.#paused = false;
    this.#pump();
  }

  /** Calls back when everything has been written. */
  finish(done: () => void): void {
    this.#finish = done;
    this.#unpack();
    this.#pump();
  }

  /** Discards what has not been written. */
  discard(): void {
    this.#stopPacking?.();
    this.#stopWaiting?.();
    this.#parcels = [];
    this.#packed = [];
    this.#finish = undefined;
  }

  #unpack(): void {
    this.#stopPacking?.();
    this.#stopPacking = undefined;
    if (this.#packed.length === 0) return;
    const bytes = Buffer.concat(this.#packed.splice(0));
    this.#queue({ bytes, pieceBytes: bytes.length, msPerPiece: 0 });
  }

  #queue(parcel: Parcel): void {
    this.#parcels.push(parcel);
    this.#pump();
  }

  #pump(): void {
    while (!this.#paused && this.#stopWaiting === undefined) {
      const parcel = this.#parcels[0];
      if (!parcel) break;
      this.#sendPiece(parcel);
    }
    if (!this.isIdle || this.#paused) return;
    this.#finish?.();
    this.#finish = undefined;
  }

  #sendPiece(parcel: Parcel): void {
    const { bytes, pieceBytes, msPerPiece, last } = parcel;
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(bytes.subarray(0, pieceBytes));
    parcel.bytes = bytes.subarray(pieceBytes);
    if (parcel.bytes.length === 0) {
      this.#parcels.shift();
      if (last) return this.#end(last);
    }
    // Timers count whole milliseconds, so shorter waits are added up.
    this.#debtMs += msPerPiece;
    if (this.#debtMs < 1) return;
    this.#stopWaiting = this.#time.after(this.#debtMs, () => {
      this.#stopWaiting = undefined;
      this.#pump();
    });
    this.#debtMs = 0;
  }
}

function corrupted(framed: Buffer): Buffer {
  const copy = Buffer.from(framed);
  copy[copy.length - 1]! ^= 1;
  return copy;
}
