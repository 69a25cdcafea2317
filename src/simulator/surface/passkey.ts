/** Linking that asks for the passkey of the account. */
import type { PhoneNumber } from "./addresses.ts";

/** A passkey that an account's owner has at `whatsapp.com`. */
export interface OwnerPasskey {
  /** Credential id, base64url without padding. */
  credentialId: string;
  /** Public key for ES256: SubjectPublicKeyInfo, DER, base64. */
  publicKey: string;
}

/** How the service asks for a passkey. */
export interface PasskeyRule {
  /** How long an assertion is awaited, in milliseconds. Default 600,000. */
  timeoutMs?: number;
  /** The notification comes without its options: the companion has to ask for them. Default false. */
  withoutOptions?: boolean;
  /** The notification comes so many milliseconds late, for a handoff that has run out. Default 0. */
  afterMs?: number;
}

/** Numbers whose linking asks for a passkey. */
export interface PasskeyMethods {
  /**
   * From now on, whoever links a companion to this number by QR or code has to prove that its owner is there, with the
   * passkey. `null` ends it. The scan resolves when everything is done and the companion is linked.
   */
  requirePasskey(number: PhoneNumber, passkey: OwnerPasskey | null, rule?: PasskeyRule): Promise<void>;
  /**
   * The code that the owner's phone shows while a companion is being linked, `XXXX-XXXX`, and whether the phone asks its
   * owner to compare it. Waits for it; rejects when none comes within the time (default 30,000 ms).
   */
  passkeyCode(number: PhoneNumber, timeoutMs?: number): Promise<{ code: string; mustCompare: boolean }>;
}
