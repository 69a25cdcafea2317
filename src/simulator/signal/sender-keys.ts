/** Sender keys: one symmetric chain per sender and group, given to the members' devices beforehand. */
import type { Random } from "../random.ts";
import { type Chain, groupKeys, seedAt, startChain, stepChain } from "./chain.ts";
import { type KeyPair, keyPairFrom, sign, verify } from "./curve.ts";
import { SignalError } from "./error.ts";
import { decryptCbc, encryptCbc, equal } from "./kdf.ts";
import { readDistribution, readSenderKeyMessage, writeDistribution, writeSenderKeyMessage } from "./wire.ts";

/** How many keys of one sender are kept: late messages may still use an older one. */
const STATES_PER_SENDER = 5;

interface OwnKey {
  keyId: number;
  signing: KeyPair;
  chain: Chain;
}

interface TheirKey {
  keyId: number;
  signingKey: Uint8Array;
  chain: Chain;
}

/** The sender keys that one device has made or been given. */
export class SenderKeys {
  readonly #random: Random;
  readonly #own = new Map<string, OwnKey>();
  readonly #theirs = new Map<string, TheirKey[]>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** Our key for a group as a distribution message, valid from the next message on. Creates one if there is none. */
  distribution(group: string): Uint8Array {
    const { keyId, signing, chain } = this.#ownKey(group);
    return writeDistribution({
      keyId,
      iteration: chain.next,
      chainKey: chain.key,
      signingKey: signing.public,
    });
  }

  /** Forgets our key for a group, so that the next one is new: someone who had it has left. */
  forgetOwn(group: string): void {
    this.#own.delete(group);
  }

  /** @throws {SignalError} `malformed` */
  accept(group: string, sender: string, distribution: Uint8Array): void {
    const { keyId, iteration, chainKey, signingKey } = readDistribution(distribution);
    const name = nameOf(group, sender);
    const known = this.#theirs.get(name) ?? [];
    // Distributed again (to a new member, in a resend): the copy we have starts further back and still opens late messages.
    if (known.some((key) => key.keyId === keyId && equal(key.signingKey, signingKey))) return;
    const others = known.filter((key) => key.keyId !== keyId);
    const key = { keyId, signingKey, chain: startChain(chainKey, iteration) };
    this.#theirs.set(name, [...others, key].slice(-STATES_PER_SENDER));
  }

  encrypt(group: string, plaintext: Uint8Array): Uint8Array {
    const own = this.#ownKey(group);
    const step = stepChain(own.chain);
    const keys = groupKeys(step.seed);
    const ciphertext = encryptCbc(keys.cipher, keys.iv, plaintext);
    const message = writeSenderKeyMessage(
      { keyId: own.keyId, iteration: step.number, ciphertext },
      (signed) => sign(own.signing, signed),
    );
    this.#own.set(group, { ...own, chain: step.chain });
    return message;
  }

  /** @throws {SignalError} `no_sender_key`, `bad_signature`, `duplicate`, `too_far_ahead`, `malformed` */
  decrypt(group: string, sender: string, bytes: Uint8Array): Uint8Array {
    const message = readSenderKeyMessage(bytes);
    const keys = this.#theirs.get(nameOf(group, sender)) ?? [];
    const key = keys.find((candidate) => candidate.keyId === message.keyId);
    if (!key)
      throw new SignalError("no_sender_key", `No sender key ${message.keyId} of ${sender} for ${group}.`);
    if (!verify(key.signingKey, message.signed, message.signature)) {
      throw new SignalError("bad_signature", `The signature of ${sender}'s group message is wrong.`);
    }
    const { seed, chain } = seedAt(key.chain, message.iteration);
    const { cipher, iv } = groupKeys(seed);
    const plaintext = decryptCbc(cipher, iv, message.ciphertext);
    key.chain = chain;
    return plaintext;
  }

  #ownKey(group: string): OwnKey {
    let own = this.#own.get(group);
    if (!own) {
      own = {
        keyId: this.#random.integer(2 ** 31),
        signing: keyPairFrom(this.#random.bytes(32)),
        chain: startChain(new Uint8Array(this.#random.bytes(32))),
      };
      this.#own.set(group, own);
    }
    return own;
  }
}

function nameOf(group: string, sender: string): string {
  return `${group} ${sender}`;
}
