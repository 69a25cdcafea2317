import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { PasskeyAssertion, PasskeyRequest } from "../model/passkey.ts";
import type { OwnerPasskey } from "../simulator/types.ts";

const ORIGIN = "https://web.whatsapp.com";
const PRESENT_AND_VERIFIED = 0x05;

/** A passkey and the browser that uses it, in software: what a real one makes, byte for byte (WebAuthn Level 2, §7.2). */
export interface Authenticator {
  passkey: OwnerPasskey;
  /** Signs a request; what differs from a right answer is given. */
  assert(request: PasskeyRequest, wrong?: Partial<Wrong>): PasskeyAssertion;
}

interface Wrong {
  origin: string;
  challenge: string;
  rpId: string;
  flags: number;
  id: string;
  type: string;
}

/** A new passkey with its private key. */
export function createAuthenticator(): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const credentialId = randomBytes(16).toString("base64url");
  return {
    passkey: {
      credentialId,
      publicKey: publicKey.export({ format: "der", type: "spki" }).toString("base64"),
    },
    assert(request, wrong = {}) {
      const { origin = ORIGIN, challenge = request.challenge, rpId = request.rpId } = wrong;
      const { flags = PRESENT_AND_VERIFIED, id = credentialId, type = "webauthn.get" } = wrong;
      const client = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
      const data = Buffer.concat([sha256(rpId), Buffer.from([flags, 0, 0, 0, 1])]);
      const signature = sign("sha256", Buffer.concat([data, sha256(client)]), privateKey);
      return {
        id,
        rawId: id,
        type: "public-key",
        response: {
          clientDataJSON: client.toString("base64url"),
          authenticatorData: data.toString("base64url"),
          signature: signature.toString("base64url"),
        },
      };
    },
  };
}

const sha256 = (data: string | Buffer): Buffer => createHash("sha256").update(data).digest();
