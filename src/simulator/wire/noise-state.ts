import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";

/** How a handshake begins: with nothing known, with the server's key known, or with one that turned out to be another. */
export type Pattern = "XX" | "IK" | "XXfallback";

const HASH_BYTES = 32;

/** The name of a pattern as Noise has it at the start: as it is when it fits, hashed when it is too long. */
function startOf(pattern: Pattern): Buffer {
  const name = Buffer.from(`Noise_${pattern}_25519_AESGCM_SHA256`);
  if (name.length > HASH_BYTES) return createHash("sha256").update(name).digest();
  return Buffer.concat([name], HASH_BYTES);
}

const HEADER = Buffer.from([0x57, 0x41, 6, 3]);
const NO_AAD = Buffer.alloc(0);
const TAG_BYTES = 16;

function seal(key: Uint8Array, counter: number, aad: Uint8Array, plaintext: Uint8Array): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonce(counter)).setAAD(aad);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Uint8Array, counter: number, aad: Uint8Array, sealed: Uint8Array): Buffer {
  if (sealed.length < TAG_BYTES) throw new Error(`sealed data of ${sealed.length} bytes has no tag`);
  const cut = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv("aes-256-gcm", key, nonce(counter)).setAAD(aad);
  decipher.setAuthTag(sealed.subarray(cut));
  return Buffer.concat([decipher.update(sealed.subarray(0, cut)), decipher.final()]);
}

function nonce(counter: number): Buffer {
  const iv = Buffer.alloc(12);
  iv.writeUInt32BE(counter, 8);
  return iv;
}

/** The two directions after the handshake; every message uses the next counter. */
export class NoiseTransport {
  #sent = 0;
  #received = 0;
  readonly #sendKey: Buffer;
  readonly #receiveKey: Buffer;

  constructor(sendKey: Buffer, receiveKey: Buffer) {
    this.#sendKey = sendKey;
    this.#receiveKey = receiveKey;
  }

  encrypt(plaintext: Uint8Array): Buffer {
    return seal(this.#sendKey, this.#sent++, NO_AAD, plaintext);
  }

  /** @throws when the data was tampered with or comes out of order */
  decrypt(ciphertext: Uint8Array): Buffer {
    return open(this.#receiveKey, this.#received++, NO_AAD, ciphertext);
  }
}

/** What both sides of a handshake know after each step, as WhatsApp frames it. */
export class HandshakeState {
  #hash: Buffer;
  #salt: Buffer;
  #key: Buffer;
  #counter = 0;

  constructor(pattern: Pattern = "XX") {
    this.#hash = this.#salt = this.#key = startOf(pattern);
    this.authenticate(HEADER);
  }

  /** Mixes data that both sides have seen into the hash. */
  authenticate(data: Uint8Array): void {
    this.#hash = createHash("sha256").update(this.#hash).update(data).digest();
  }

  /** Mixes in a shared secret. */
  mix(secret: Uint8Array): void {
    [this.#salt, this.#key] = this.#expand(secret);
    this.#counter = 0;
  }

  seal(plaintext: Uint8Array): Buffer {
    const sealed = seal(this.#key, this.#counter++, this.#hash, plaintext);
    this.authenticate(sealed);
    return sealed;
  }

  /** @throws when the data was tampered with, or the other side has other keys */
  open(sealed: Uint8Array): Buffer {
    const plaintext = open(this.#key, this.#counter++, this.#hash, sealed);
    this.authenticate(sealed);
    return plaintext;
  }

  /** The keys of the two directions: from the client, to the client. */
  split(): [fromClient: Buffer, toClient: Buffer] {
    return this.#expand(NO_AAD);
  }

  #expand(input: Uint8Array): [Buffer, Buffer] {
    const derived = Buffer.from(hkdfSync("sha256", input, this.#salt, "", 64));
    return [derived.subarray(0, 32), derived.subarray(32)];
  }
}
