/** What the service can check of a WebAuthn assertion (Web Authentication Level 2, section 7.2). */
import { createHash, createPublicKey, verify } from "node:crypto";
import type { OwnerPasskey } from "../../surface/passkey.ts";

/** The page that may ask for the passkey, and the domain that it belongs to. */
export const PASSKEY_ORIGIN = "https://web.whatsapp.com";
export const RELYING_PARTY = "whatsapp.com";

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const RP_HASH_BYTES = 32;
/** Hash of the relying party, flags, counter. */
const LEAST_BYTES = RP_HASH_BYTES + 1 + 4;

/**
 * Checks an assertion as the service does.
 *
 * @param json       the assertion as its companion sent it, UTF-8
 * @param challenge  base64url, as it was asked
 * @returns what is wrong with it; null when nothing is
 */
export function faultOfAssertion(json: Buffer, challenge: string, passkey: OwnerPasskey): string | null {
  let given: Assertion;
  try {
    given = readAssertion(json);
  } catch (error) {
    return `malformed: ${(error as Error).message}`;
  }
  const { clientDataJSON, authenticatorData, signature } = given;
  const client = JSON.parse(clientDataJSON.toString("utf8")) as Record<string, unknown>;
  if (given.id !== passkey.credentialId) return "another credential";
  if (client.type !== "webauthn.get") return `type ${String(client.type)}`;
  if (client.challenge !== challenge) return "another challenge";
  if (client.origin !== PASSKEY_ORIGIN) return `origin ${String(client.origin)}`;
  if (!authenticatorData.subarray(0, RP_HASH_BYTES).equals(sha256(RELYING_PARTY))) return "another domain";
  const flags = authenticatorData[RP_HASH_BYTES]!;
  if (!(flags & USER_PRESENT)) return "nobody was there";
  if (!(flags & USER_VERIFIED)) return "nobody was verified";
  const key = createPublicKey({ key: Buffer.from(passkey.publicKey, "base64"), format: "der", type: "spki" });
  const signed = Buffer.concat([authenticatorData, sha256(clientDataJSON)]);
  return verify("sha256", signed, key, signature) ? null : "the signature";
}

interface Assertion {
  id: string;
  clientDataJSON: Buffer;
  authenticatorData: Buffer;
  signature: Buffer;
}

/** @throws when a field is missing, or is not base64url without padding */
function readAssertion(json: Buffer): Assertion {
  const { id, rawId, type, response } = JSON.parse(json.toString("utf8")) as Record<string, any>;
  if (type !== "public-key") throw new Error(`type ${String(type)}`);
  if (id !== rawId) throw new Error("id and rawId differ");
  const authenticatorData = decode(response?.authenticatorData, "authenticatorData");
  if (authenticatorData.length < LEAST_BYTES) throw new Error("authenticatorData is too short");
  return {
    id: decode(id, "id").toString("base64url"),
    clientDataJSON: decode(response?.clientDataJSON, "clientDataJSON"),
    authenticatorData,
    signature: decode(response?.signature, "signature"),
  };
}

function decode(text: unknown, name: string): Buffer {
  if (typeof text !== "string" || !/^[\w-]+$/.test(text)) throw new Error(`${name} is not base64url`);
  return Buffer.from(text, "base64url");
}

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();
