import { AsyncLocalStorage } from "node:async_hooks";
import type { AuthenticationCreds, SignalCreds, SignedKeyPair } from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";
import { inRestingStorage } from "./idle-transactions.ts";

/** Credentials whose signed pre-key is replaced now and then. All of it is stored with them. */
export interface RotatingCreds extends AuthenticationCreds {
  /** The one before: whoever was given it may still write a first message under it. */
  formerSignedPreKey?: SignedKeyPair;
  /** Since when `signedPreKey` is the current one, Unix milliseconds; missing on numbers that were linked by an earlier Parley. */
  signedPreKeySince?: number;
  /** WhatsApp has not confirmed it yet, and may give others the one before. */
  isSignedPreKeyNew?: boolean;
}

/** Lets a decryption have the signed pre-key that its message names. */
export interface NamedSignedPreKeys {
  /** As Baileys reads them: `signedPreKey` is the one that the message under decryption names. */
  creds: SignalCreds;
  /** Decrypts a first message with the key that it names. */
  reading<T>(ciphertext: Uint8Array, decrypt: () => Promise<T>): Promise<T>;
}

/** Baileys' storage gives the current signed pre-key whatever a message names. */
export function nameSignedPreKeys(
  creds: SignalCreds & Pick<RotatingCreds, "formerSignedPreKey">,
): NamedSignedPreKeys {
  const named = new AsyncLocalStorage<number>();
  const signedPreKey = (): SignedKeyPair => {
    const { signedPreKey: current, formerSignedPreKey: former } = creds;
    return former !== undefined && former.keyId === named.getStore() ? former : current;
  };
  return {
    creds: Object.create(creds, { signedPreKey: { get: signedPreKey } }) as SignalCreds,
    reading(ciphertext, decrypt) {
      const former = creds.formerSignedPreKey?.keyId;
      // Most name the current one, which Baileys reads anyway.
      if (former === undefined || namedIn(ciphertext) !== former) return decrypt();
      return inRestingStorage(named, former, decrypt);
    },
  };
}

/** Null: it is no first message, which its decryption says. */
function namedIn(ciphertext: Uint8Array): number | null {
  try {
    // Its first byte is the version.
    return baileys.proto.PreKeySignalMessage.decode(ciphertext.subarray(1)).signedPreKeyId ?? null;
  } catch {
    return null;
  }
}
