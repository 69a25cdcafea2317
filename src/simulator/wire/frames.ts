/** What a client opens its connection with. */
const INTRO = Buffer.from([0x57, 0x41, 6, 3]);
const ROUTING_MARK = Buffer.from("ED");

/** A protocol error on the transport; the connection is closed, nothing is answered. */
class FrameError extends Error {}

/** Prefixes the length, three bytes big-endian. */
export function frame(data: Uint8Array): Buffer {
  if (data.length >= 1 << 24)
    throw new FrameError(`a frame of ${data.length} bytes does not fit its length field`);
  const framed = Buffer.allocUnsafe(data.length + 3);
  framed.writeUIntBE(data.length, 0, 3);
  framed.set(data, 3);
  return framed;
}

/** Splits a client's byte stream into frames, after the intro with or without routing information. */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0);
  #introduced = false;
  /** The client's routing information, if it sent any. */
  routingInfo: Buffer | undefined;

  /** The frames that are complete now. @throws FrameError when the intro is wrong */
  push(data: Buffer): Buffer[] {
    this.#pending = this.#pending.length === 0 ? data : Buffer.concat([this.#pending, data]);
    if (!this.#introduced && !this.#takeIntro()) return [];
    const frames: Buffer[] = [];
    while (this.#pending.length >= 3) {
      const length = this.#pending.readUIntBE(0, 3);
      if (this.#pending.length < length + 3) break;
      frames.push(this.#pending.subarray(3, length + 3));
      this.#pending = this.#pending.subarray(length + 3);
    }
    return frames;
  }

  #takeIntro(): boolean {
    if (this.#pending.length < INTRO.length) return false;
    let start = 0;
    if (this.#pending.subarray(0, 2).equals(ROUTING_MARK)) {
      if (this.#pending.length < 7) return false;
      start = 7 + this.#pending.readUIntBE(4, 3);
      if (this.#pending.length < start + INTRO.length) return false;
      this.routingInfo = Buffer.from(this.#pending.subarray(7, start));
    }
    const intro = this.#pending.subarray(start, start + INTRO.length);
    if (!intro.equals(INTRO)) throw new FrameError(`unknown protocol intro ${intro.toString("hex")}`);
    this.#pending = this.#pending.subarray(start + INTRO.length);
    this.#introduced = true;
    return true;
  }
}
