import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import type { SecretBox } from "./store.ts";

const VERSION = 1;
const IV_BYTES = 12;
const IVS_AT_ONCE = 256;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + IV_BYTES + TAG_BYTES;

/** A sealed value that does not open: another master key, another context, or changed bytes. */
export class SealBroken extends Error {
  constructor(context: string) {
    super(
      `A sealed value (${context}) does not open: it was changed, moved, or sealed with another master key.`,
    );
    this.name = "SealBroken";
  }
}

/**
 * Layout of a sealed value: version (1 byte), IV (12), tag (16), ciphertext. Version and context are authenticated.
 * Each purpose has a key of its own derived from the master key by HKDF-SHA256, so that a hash of one purpose says
 * nothing about another.
 *
 * @param masterKey     32 bytes; seals
 * @param derivationKey 32 bytes; makes the HMACs, and stays when the master key changes. Default: the master key, which is
 *   so until it is changed for the first time
 */
export function createSecretBox(masterKey: Uint8Array, derivationKey: Uint8Array = masterKey): SecretBox {
  const sealKey = deriveKey(masterKey, "seal");
  const hmacKeys = new Map<string, Buffer>();

  function hmacKey(purpose: string): Buffer {
    const known = hmacKeys.get(purpose);
    if (known !== undefined) return known;
    const key = deriveKey(derivationKey, `hmac:${purpose}`);
    hmacKeys.set(purpose, key);
    return key;
  }

  let ivs = Buffer.alloc(0);
  let used = 0;

  /** Asking the system for twelve bytes costs as much as asking for three thousand; each is handed out once. */
  function freshIv(): Buffer {
    if (used === ivs.length) {
      ivs = randomBytes(IVS_AT_ONCE * IV_BYTES);
      used = 0;
    }
    return ivs.subarray(used, (used += IV_BYTES));
  }

  function seal(value: string | Uint8Array, context: string): Buffer {
    const iv = freshIv();
    const cipher = createCipheriv("aes-256-gcm", sealKey, iv);
    cipher.setAAD(boundTo(context));
    const body = typeof value === "string" ? cipher.update(value, "utf8") : cipher.update(value);
    cipher.final();
    const sealed = Buffer.allocUnsafeSlow(HEADER_BYTES + body.length);
    sealed[0] = VERSION;
    sealed.set(iv, 1);
    sealed.set(cipher.getAuthTag(), 1 + IV_BYTES);
    sealed.set(body, HEADER_BYTES);
    return sealed;
  }

  function open(sealed: Uint8Array, context: string): Buffer {
    if (sealed.length < HEADER_BYTES || sealed[0] !== VERSION) throw new SealBroken(context);
    const decipher = createDecipheriv("aes-256-gcm", sealKey, sealed.subarray(1, 1 + IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(boundTo(context));
    decipher.setAuthTag(sealed.subarray(1 + IV_BYTES, HEADER_BYTES));
    const body = decipher.update(sealed.subarray(HEADER_BYTES));
    try {
      decipher.final();
    } catch {
      throw new SealBroken(context);
    }
    return body;
  }

  return {
    seal,
    open,
    sealJson: (value, context) => seal(JSON.stringify(value), context),
    openJson: <T>(sealed: Uint8Array, context: string) =>
      JSON.parse(open(sealed, context).toString("utf8")) as T,
    hmac: (purpose, data) => createHmac("sha256", hmacKey(purpose)).update(data).digest(),
  };
}

function deriveKey(masterKey: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", masterKey, "parley", purpose, 32));
}

function boundTo(context: string): Buffer {
  return Buffer.from(`${VERSION}\0${context}`, "utf8");
}
