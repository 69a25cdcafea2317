/** The phone's side of linking with a passkey ("Shortcake"). */
import { createDecipheriv, createHash } from "node:crypto";
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Random } from "../../random.ts";
import { agree, keyPairFrom, type KeyPair } from "../../signal/curve.ts";
import { derive, equal, hmac } from "../../signal/kdf.ts";

/** How WhatsApp spells five bytes in eight characters: base 32 without what people mix up. */
const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTVWXYZ";
const TAG_BYTES = 16;

/** What the phone has read of a companion's QR text. */
export interface ScannedSecrets {
  noiseKey: Uint8Array;
  identity: Uint8Array;
  advSecret: Uint8Array;
}

/** What a companion has committed itself to, and what the phone answers. */
export interface PasskeyExchange {
  identityBytes: Uint8Array;
  commitment: Uint8Array;
  identity: proto.CompanionEphemeralIdentity;
  ephemeral: KeyPair;
  nonce: Uint8Array;
  /** The companion has proven that its QR is the one that was scanned: nobody has to compare a code. */
  hasProof: boolean;
}

/**
 * Reads the companion's prologue.
 *
 * @param proof  what came as `pairing_handoff_proof`; undefined when nothing did
 * @throws when the payload is malformed, or the proof is wrong
 */
export function openPrologue(
  payload: Uint8Array,
  proof: Uint8Array | undefined,
  { advSecret }: ScannedSecrets,
  random: Random,
): PasskeyExchange {
  const { companionEphemeralIdentity, commitment } = proto.ProloguePayload.decode(payload);
  if (!companionEphemeralIdentity || commitment?.hash?.length !== 32)
    throw new Error("The companion's prologue is malformed.");
  const identity = proto.CompanionEphemeralIdentity.decode(companionEphemeralIdentity);
  if (identity.publicKey?.length !== 32 || !identity.ref)
    throw new Error("The companion's ephemeral identity is malformed.");
  const handoff = derive(advSecret, "shortcake-passkey-handoff-v1", 32);
  if (proof !== undefined && !equal(hmac(handoff, payload), proof))
    throw new Error("The companion's handoff proof is not that of the QR that was scanned.");
  return {
    identityBytes: companionEphemeralIdentity,
    commitment: commitment.hash,
    identity,
    ephemeral: keyPairFrom(random.bytes(32)),
    nonce: random.bytes(32),
    hasProof: proof !== undefined,
  };
}

/** What the phone tells the companion of itself. */
export function primaryIdentity({ ephemeral, nonce }: PasskeyExchange): Uint8Array {
  return proto.PrimaryEphemeralIdentity.encode({ publicKey: ephemeral.public, nonce }).finish();
}

/** The code that both sides show, `XXXX-XXXX`. @throws when the companion's nonce is not the one that it committed itself to */
export function codeToCompare(exchange: PasskeyExchange, companionNonce: Uint8Array): string {
  const { identityBytes, commitment, ephemeral, nonce } = exchange;
  if (!equal(sha256(identityBytes, companionNonce), commitment))
    throw new Error("The companion's nonce does not fit its commitment.");
  const mask = sha256(companionNonce, ephemeral.public);
  let bits = 0n;
  for (let index = 0; index < 5; index++) bits = (bits << 8n) | BigInt(nonce[index]! ^ mask[index]!);
  const code = Array.from(
    { length: 8 },
    (_, index) => ALPHABET[Number((bits >> BigInt(35 - 5 * index)) & 31n)],
  );
  return `${code.slice(0, 4).join("")}-${code.slice(4).join("")}`;
}

/**
 * Opens the companion's sealed request.
 *
 * @returns the secret that seals the device identity from now on
 * @throws when it does not open, or names other keys than the QR, or the QR's own secret again
 */
export function openPairingRequest(
  { ephemeral, identity }: PasskeyExchange,
  sealed: Uint8Array,
  scanned: ScannedSecrets,
): Uint8Array {
  const { encryptedPayload, iv } = proto.EncryptedPairingRequest.decode(sealed);
  if (!encryptedPayload || iv?.length !== 12) throw new Error("The companion's sealed request is malformed.");
  const shared = agree(identity.publicKey!, ephemeral);
  const salt = Buffer.from(`Companion Pairing ${identity.deviceType ?? 0} with ref ${identity.ref}`);
  const key = derive(shared, "Pairing Information Encryption Key", 32, salt);
  const decipher = createDecipheriv("aes-256-gcm", key, iv);
  decipher.setAuthTag(encryptedPayload.subarray(-TAG_BYTES));
  const opened = Buffer.concat([decipher.update(encryptedPayload.subarray(0, -TAG_BYTES)), decipher.final()]);
  const { companionPublicKey, companionIdentityKey, advSecret } = proto.PairingRequest.decode(opened);
  if (!equal(companionPublicKey!, scanned.noiseKey) || !equal(companionIdentityKey!, scanned.identity))
    throw new Error("The companion's sealed request names other keys than its QR.");
  if (advSecret?.length !== 32 || equal(advSecret, scanned.advSecret))
    throw new Error("The companion did not make a new secret.");
  return advSecret;
}

function sha256(...parts: Uint8Array[]): Uint8Array {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}
