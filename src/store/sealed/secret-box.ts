import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { createLru } from "../../model/lru.ts";
import { systemTime } from "../../model/time.ts";
import { SEALED_COLUMNS } from "./sealed-columns.ts";
import type { SealFormat, SecretBox } from "../store.ts";

const IV_BYTES = 12;
const IVS_AT_ONCE = 256;
const TAG_BYTES = 16;
const MONTH_BYTES = 2;
/** Version, IV, tag; the month only in format 2. */
const MONTH_AT = 1 + IV_BYTES + TAG_BYTES;
const BODY_AT = { 1: MONTH_AT, 2: MONTH_AT + MONTH_BYTES };
/** Of numbers and months that are in use; a key costs as much as twenty seals. */
const KEYS_KEPT = 5_000;
const MAX_MONTH = 0xff_ff;

/** A sealed value that does not open: another master key, another context, or changed bytes. */
export class SealBroken extends Error {
  constructor(context: string) {
    super(
      `A sealed value (${context}) does not open: it was changed, moved, or sealed with another master key.`,
    );
    this.name = "SealBroken";
  }
}

/** What a box is made with beside its master key. */
export interface BoxOptions {
  /** Makes the HMACs, and stays when the master key changes. Default: the master key, which is so until it is changed for the first time. */
  derivationKey?: Uint8Array;
  /** How it seals; it opens both. Default 2. */
  format?: SealFormat;
  /** Unix milliseconds. */
  now?: () => number;
}

/**
 * Layout of a sealed value: format (1 byte), IV (12), tag (16), in format 2 the month (2, counted from January 1970), ciphertext. Format
 * and context are authenticated; the month is, because another one has another key. Each purpose has a key of its own derived from the
 * master key by HKDF-SHA256, so that a hash of one purpose says nothing about another; each number and month has one too, so that
 * random IVs of one key stay far from repeating.
 *
 * @param masterKey 32 bytes; seals
 */
export function createSecretBox(masterKey: Uint8Array, options: BoxOptions = {}): SecretBox {
  const { derivationKey = masterKey, format = 2, now = systemTime.now } = options;
  const sealKeys = createLru<string, Buffer>(KEYS_KEPT);
  const hmacKeys = new Map<string, Buffer>();

  function hmacKey(purpose: string): Buffer {
    const known = hmacKeys.get(purpose);
    if (known !== undefined) return known;
    const key = deriveKey(derivationKey, `hmac:${purpose}`);
    hmacKeys.set(purpose, key);
    return key;
  }

  function sealKey(context: string, month: number | null): Buffer {
    const purpose = month === null ? "seal" : `seal:${numberOf(context)}:${month}`;
    let key = sealKeys.get(purpose);
    if (key === undefined) sealKeys.set(purpose, (key = deriveKey(masterKey, purpose)));
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
    const month = format === 1 ? null : monthOf(now());
    const cipher = createCipheriv("aes-256-gcm", sealKey(context, month), iv);
    cipher.setAAD(boundTo(format, context));
    const body = typeof value === "string" ? cipher.update(value, "utf8") : cipher.update(value);
    cipher.final();
    const sealed = Buffer.allocUnsafeSlow(BODY_AT[format] + body.length);
    sealed[0] = format;
    sealed.set(iv, 1);
    sealed.set(cipher.getAuthTag(), 1 + IV_BYTES);
    if (month !== null) sealed.writeUInt16BE(month, MONTH_AT);
    sealed.set(body, BODY_AT[format]);
    return sealed;
  }

  function open(sealed: Uint8Array, context: string): Buffer {
    const written = sealed[0];
    if ((written !== 1 && written !== 2) || sealed.length < BODY_AT[written]) throw new SealBroken(context);
    const month = written === 1 ? null : (sealed[MONTH_AT]! << 8) | sealed[MONTH_AT + 1]!;
    const iv = sealed.subarray(1, 1 + IV_BYTES);
    const decipher = createDecipheriv("aes-256-gcm", sealKey(context, month), iv, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(boundTo(written, context));
    decipher.setAuthTag(sealed.subarray(1 + IV_BYTES, MONTH_AT));
    const body = decipher.update(sealed.subarray(BODY_AT[written]));
    try {
      decipher.final();
    } catch {
      throw new SealBroken(context);
    }
    return body;
  }

  return {
    format,
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

function boundTo(format: SealFormat, context: string): Buffer {
  return Buffer.from(`${format}\0${context}`, "utf8");
}

function monthOf(at: number): number {
  const date = new Date(at);
  const month = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
  // A host's clock may say anything.
  return Math.min(MAX_MONTH, Math.max(0, Number.isNaN(month) ? 0 : month));
}

/** Kinds of context that go on with a number's id. */
const OF_NUMBERS = new Set(
  SEALED_COLUMNS.filter(({ keys }) => keys[0] === "device_id").map(
    ({ keys, context }) => context(...keys.map(() => "")).split(":")[0]!,
  ),
);

/** The id of the number that a value is of; empty for what is of none, or does not say of which. */
function numberOf(context: string): string {
  const kindEnd = context.indexOf(":");
  if (kindEnd === -1 || !OF_NUMBERS.has(context.slice(0, kindEnd))) return "";
  const idEnd = context.indexOf(":", kindEnd + 1);
  return context.slice(kindEnd + 1, idEnd === -1 ? undefined : idEnd);
}
