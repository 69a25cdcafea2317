/**
 * One double-ratchet session as a value: encrypting and decrypting give a new session and leave the old one as it was,
 * so that a failed attempt leaves no trace.
 */
import { type Chain, seedAt, sessionKeys, startChain, stepChain } from "./chain.ts";
import { type KeyPair, agree } from "./curve.ts";
import { SignalError } from "./error.ts";
import { decryptCbc, derive, encryptCbc, equal } from "./kdf.ts";
import { type WhisperMessage, writeWhisperMessage } from "./wire.ts";

/** Receiving chains kept per session; messages on older ones were lost long ago. */
const RECEIVING_CHAINS = 5;

/** What goes into every message until the other side has answered on this session. */
interface PendingPreKey {
  preKeyId?: number;
  signedPreKeyId: number;
}

/** A session with one device of a peer. */
export interface Session {
  /** The initiator's base key; it names the session. */
  readonly baseKey: Uint8Array;
  readonly ours: Uint8Array;
  readonly theirs: Uint8Array;
  readonly registrationId: number;
  readonly rootKey: Uint8Array;
  readonly ratchet: KeyPair;
  /** Missing until the first message has arrived, on the side that did not start the session. */
  readonly sending?: Chain;
  readonly previousCounter: number;
  /** Newest last. */
  readonly receiving: readonly { ratchetKey: Uint8Array; chain: Chain }[];
  readonly pending?: PendingPreKey;
}

/** The keys that X3DH mixes, named from our side. `oneTime` is whichever side's one-time pre-key, if any. */
interface Handshake {
  identity: KeyPair;
  theirIdentity: Uint8Array;
  registrationId: number;
}

/** Starts a session from a key bundle; `base` and `ratchet` are fresh pairs. */
export function initiate(
  parties: Handshake,
  base: KeyPair,
  ratchet: KeyPair,
  theirSignedPreKey: Uint8Array,
  theirOneTime: Uint8Array | undefined,
  pending: PendingPreKey,
): Session {
  const agreed = [
    agree(theirSignedPreKey, parties.identity),
    agree(parties.theirIdentity, base),
    agree(theirSignedPreKey, base),
    ...(theirOneTime ? [agree(theirOneTime, base)] : []),
  ];
  const sending = ratchetStep(rootOf(agreed), theirSignedPreKey, ratchet);
  return {
    baseKey: base.public,
    ours: parties.identity.public,
    theirs: parties.theirIdentity,
    registrationId: parties.registrationId,
    rootKey: sending.rootKey,
    ratchet,
    sending: sending.chain,
    previousCounter: 0,
    receiving: [],
    pending,
  };
}

/** The other side of {@link initiate}, from the keys that a pre-key message names. */
export function respond(
  parties: Handshake,
  theirBase: Uint8Array,
  signedPreKey: KeyPair,
  oneTime: KeyPair | undefined,
): Session {
  const agreed = [
    agree(parties.theirIdentity, signedPreKey),
    agree(theirBase, parties.identity),
    agree(theirBase, signedPreKey),
    ...(oneTime ? [agree(theirBase, oneTime)] : []),
  ];
  return {
    baseKey: theirBase,
    ours: parties.identity.public,
    theirs: parties.theirIdentity,
    registrationId: parties.registrationId,
    rootKey: rootOf(agreed),
    ratchet: signedPreKey,
    previousCounter: 0,
    receiving: [],
  };
}

/** Encrypts one message (an encoded ratchet message, without the pre-key envelope). */
export function seal(session: Session, plaintext: Uint8Array): { session: Session; message: Uint8Array } {
  if (!session.sending) throw new SignalError("no_session", "This session has not received anything yet.");
  const step = stepChain(session.sending);
  const keys = sessionKeys(step.seed);
  const message = writeWhisperMessage(
    {
      ratchetKey: session.ratchet.public,
      counter: step.number,
      previousCounter: session.previousCounter,
      ciphertext: encryptCbc(keys.cipher, keys.iv, plaintext),
    },
    keys.mac,
    session.ours,
    session.theirs,
  );
  return { session: { ...session, sending: step.chain }, message };
}

/**
 * Decrypts one message. Whoever can decrypt has seen an answer, so the pending pre-key is dropped.
 *
 * @param freshRatchet  makes the next ratchet pair, called only when the other side turned the ratchet
 * @throws {SignalError} `bad_mac`, `duplicate` or `too_far_ahead`
 */
export function open(
  session: Session,
  message: WhisperMessage,
  freshRatchet: () => KeyPair,
): { session: Session; plaintext: Uint8Array } {
  const known = session.receiving.find((chain) => equal(chain.ratchetKey, message.ratchetKey));
  const turned = known ? undefined : ratchetStep(session.rootKey, message.ratchetKey, session.ratchet);
  const { seed, chain } = seedAt(known?.chain ?? turned!.chain, message.counter);
  const keys = sessionKeys(seed);
  if (!message.hasMac(keys.mac, session.theirs, session.ours)) {
    throw new SignalError("bad_mac", "The MAC of the message does not fit this session.");
  }
  const plaintext = decryptCbc(keys.cipher, keys.iv, message.ciphertext);
  const received = { ratchetKey: message.ratchetKey, chain };
  if (known) {
    const receiving = session.receiving.map((entry) => (entry === known ? received : entry));
    return { session: { ...session, receiving, pending: undefined }, plaintext };
  }
  const ratchet = freshRatchet();
  const sending = ratchetStep(turned!.rootKey, message.ratchetKey, ratchet);
  return {
    session: {
      ...session,
      rootKey: sending.rootKey,
      ratchet,
      sending: sending.chain,
      previousCounter: Math.max(0, (session.sending?.next ?? 0) - 1),
      receiving: [...session.receiving, received].slice(-RECEIVING_CHAINS),
      pending: undefined,
    },
    plaintext,
  };
}

/** Whether a pre-key message belongs to this session: same base key, same identity. */
export function isNamedBy(session: Session, start: { baseKey: Uint8Array; identity: Uint8Array }): boolean {
  return equal(session.baseKey, start.baseKey) && equal(session.theirs, start.identity);
}

function rootOf(agreed: Uint8Array[]): Uint8Array {
  const discontinuity = new Uint8Array(32).fill(0xff);
  return derive(Buffer.concat([discontinuity, ...agreed]), "WhisperText", 64).slice(0, 32);
}

function ratchetStep(
  rootKey: Uint8Array,
  theirs: Uint8Array,
  ours: KeyPair,
): { rootKey: Uint8Array; chain: Chain } {
  const keys = derive(agree(theirs, ours), "WhisperRatchet", 64, rootKey);
  return { rootKey: keys.slice(0, 32), chain: startChain(keys.slice(32)) };
}
