/** The phone's side of linking by an eight-character code. */
import { createCipheriv, createDecipheriv, pbkdf2 } from "node:crypto";
import { promisify } from "node:util";
import type { Random } from "../../random.ts";
import { type KeyPair, agree, keyPairFrom } from "../../signal/curve.ts";
import { derive, equal } from "../../signal/kdf.ts";

const ROUNDS = 2 ** 17;
const TAG_BYTES = 16;

/** The code that was typed is not the one that the companion shows. */
export class WrongCode extends Error {}

/** A wrapped public key: salt, IV and the key under the code. */
const WRAPPED = { salt: 32, iv: 16, key: 32 };

/** The secrets of one linking, from the phone's answer on. */
interface CodeExchange {
  /** Our ephemeral key under the code, for the companion. */
  wrapped: Uint8Array;
  /** What both sides share when the code was right. */
  shared: Uint8Array;
}

/**
 * Answers a companion's hello.
 *
 * @param code  as the companion shows it; case, dashes and spaces do not matter
 * @throws when the hello is malformed
 */
export async function answerHello(code: string, hello: Uint8Array, random: Random): Promise<CodeExchange> {
  if (hello.length !== WRAPPED.salt + WRAPPED.iv + WRAPPED.key) {
    throw new Error(`A wrapped ephemeral key has 80 bytes, not ${hello.length}.`);
  }
  const typed = code.replace(/[\s-]/g, "").toUpperCase();
  const theirKey = await keyOf(typed, hello.subarray(0, WRAPPED.salt));
  const theirIv = hello.subarray(WRAPPED.salt, WRAPPED.salt + WRAPPED.iv);
  const decipher = createDecipheriv("aes-256-ctr", theirKey, theirIv);
  const companion = new Uint8Array(decipher.update(hello.subarray(WRAPPED.salt + WRAPPED.iv)));
  const ephemeral = keyPairFrom(random.bytes(32));
  const [salt, iv] = [random.bytes(WRAPPED.salt), random.bytes(WRAPPED.iv)];
  const cipher = createCipheriv("aes-256-ctr", await keyOf(typed, salt), iv);
  return {
    wrapped: Buffer.concat([salt, iv, cipher.update(ephemeral.public)]),
    shared: agree(companion, ephemeral),
  };
}

/**
 * Reads the companion's second message.
 *
 * @returns the companion's identity key and the secret that seals its device identity
 * @throws {WrongCode}
 * @throws when an identity in the bundle is not the one that was announced
 */
export function openKeyBundle(
  { shared }: CodeExchange,
  bundle: Uint8Array,
  announced: Uint8Array,
  account: KeyPair,
): { companion: Uint8Array; advSecret: Uint8Array } {
  const [salt, iv, sealed] = [bundle.subarray(0, 32), bundle.subarray(32, 44), bundle.subarray(44)];
  const key = derive(shared, "link_code_pairing_key_bundle_encryption_key", 32, salt);
  const decipher = createDecipheriv("aes-256-gcm", key, iv);
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  let opened: Buffer;
  try {
    opened = Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw new WrongCode("The pairing code is wrong: the companion's key bundle does not open with it.");
  }
  const [companion, ours, secret] = [opened.subarray(0, 32), opened.subarray(32, 64), opened.subarray(64)];
  if (!equal(companion, announced) || !equal(ours, account.public)) {
    throw new Error("The companion's key bundle names other identities than were exchanged.");
  }
  const identities = agree(companion, account);
  const advSecret = derive(Buffer.concat([shared, identities, secret]), "adv_secret", 32);
  return { companion, advSecret };
}

async function keyOf(code: string, salt: Uint8Array): Promise<Uint8Array> {
  return await promisify(pbkdf2)(code, salt, ROUNDS, 32, "sha256");
}
