import { createHmac } from "node:crypto";

/**
 * A stream of bytes that is fixed by its seed and label.
 *
 * Streams are split by label and not by position, so that adding a contact or a message never changes anybody else's
 * keys: two runs with one seed give the same keys, in whatever order people act.
 */
export interface Random {
  /** The next `count` bytes of this stream. */
  bytes(count: number): Buffer;
  /** A whole number from 0 up to and excluding `limit` (at most 2^32), without modulo bias. */
  integer(limit: number): number;
  /** An independent stream; the same label always gives the same stream, however much of this one was read. */
  fork(label: string): Random;
}

/** HMAC-SHA-256 in counter mode; a block is thrown away once it has been read, so a stream keeps 40 bytes of state. */
class LabelledStream implements Random {
  readonly #key: Buffer;
  #counter = 0;

  constructor(key: Buffer) {
    this.#key = key;
  }

  bytes(count: number): Buffer {
    const blocks: Buffer[] = [];
    for (let missing = count; missing > 0; missing -= 32) {
      blocks.push(
        createHmac("sha256", this.#key)
          .update(`block:${this.#counter++}`)
          .digest(),
      );
    }
    return Buffer.concat(blocks).subarray(0, count);
  }

  integer(limit: number): number {
    if (!Number.isInteger(limit) || limit < 1 || limit > 2 ** 32) {
      throw new RangeError(`A limit must be a whole number from 1 to 2^32, not ${limit}.`);
    }
    const usable = 2 ** 32 - (2 ** 32 % limit);
    for (;;) {
      const value = this.bytes(4).readUInt32BE();
      if (value < usable) return value % limit;
    }
  }

  fork(label: string): Random {
    return new LabelledStream(createHmac("sha256", this.#key).update(`fork:${label}`).digest());
  }
}

/**
 * The root stream of a simulator.
 *
 * @param seed  any text; the same text gives the same keys, ids and paddings
 */
export function seededRandom(seed: string): Random {
  return new LabelledStream(createHmac("sha256", "parley simulator").update(seed).digest());
}
