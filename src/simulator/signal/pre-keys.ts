import type { Random } from "../random.ts";
import { type KeyPair, keyPairFrom } from "./curve.ts";
import { SignalError } from "./error.ts";

/** A device has one signed pre-key and never rotates it. */
export const SIGNED_PRE_KEY_ID = 1;

/** One device's pre-keys. They are derived from its stream whenever they are needed, so only the used ids are stored. */
export class PreKeys {
  readonly #random: Random;
  readonly #used = new Set<number>();
  #signed: KeyPair | undefined;
  #nextId = 1;

  constructor(random: Random) {
    this.#random = random;
  }

  get signed(): KeyPair {
    this.#signed ??= keyPairFrom(this.#random.fork("signed pre-key").bytes(32));
    return this.#signed;
  }

  /** The next `count` one-time pre-keys. */
  next(count: number): { id: number; public: Uint8Array }[] {
    const ids = Array.from({ length: count }, () => this.#nextId++);
    return ids.map((id) => ({ id, public: this.#pair(id).public }));
  }

  /** The pair of a one-time pre-key; undefined for none. @throws {SignalError} `invalid_prekey` when it was never made, or is used up */
  unused(id: number | undefined): KeyPair | undefined {
    if (id === undefined) return undefined;
    if (id < 1 || id >= this.#nextId)
      throw new SignalError("invalid_prekey", `One-time pre-key ${id} was never made.`);
    if (this.#used.has(id))
      throw new SignalError("invalid_prekey", `One-time pre-key ${id} was used before.`);
    return this.#pair(id);
  }

  /** Notes that a one-time pre-key is used up. */
  use(id: number | undefined): void {
    if (id !== undefined) this.#used.add(id);
  }

  #pair(id: number): KeyPair {
    return keyPairFrom(this.#random.fork(`pre-key ${id}`).bytes(32));
  }
}
