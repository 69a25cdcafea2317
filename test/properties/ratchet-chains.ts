/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
import { createHmac, hkdfSync } from "node:crypto";
import {
  openSession,
  withSession,
  type StoredChain,
  type StoredRecord,
} from "../../src/whatsapp/everyday/record.ts";

/** The record of somebody who has encrypted so many messages more; null: its session is not one that is open on both sides. */
export const afterLosing = (record: StoredRecord | null, lost: number): StoredRecord | null =>
  withSendingChain(record, ({ counter, key }) => {
    let last = key!;
    for (let n = 0; n < lost; n++)
      last = createHmac("sha256", Buffer.from(last, "base64")).update(Uint8Array.of(2)).digest("base64");
    return { counter: counter + lost, key: last };
  });

/** The record of somebody who claims to have encrypted more than it has; null as above. */
export const withCounter = (record: StoredRecord | null, counter: number): StoredRecord | null =>
  withSendingChain(record, ({ key }) => ({ counter, key }));

/** The record of somebody who claims to have written so many messages before its last change of keys; null as above. */
export function withPreviousCounter(
  record: StoredRecord | null,
  previousCounter: number,
): StoredRecord | null {
  const open = record && openSession(record);
  if (!record || !open || open.session.pendingPreKey !== undefined) return null;
  const currentRatchet = { ...open.session.currentRatchet, previousCounter };
  return withSession(record, open.key, { ...open.session, currentRatchet });
}

/**
 * The record of somebody who writes under a ratchet key that shares nothing: both sides know the chain's first key without any secret but
 * the root key, which `to` has. Null as above.
 *
 * @param point 32 bytes
 */
export function underLowOrderKey(
  record: StoredRecord | null,
  to: StoredRecord | null,
  point: Uint8Array,
): StoredRecord | null {
  const [open, theirs] = [record && openSession(record), to && openSession(to)];
  if (!record || !open || !theirs || open.session.pendingPreKey !== undefined) return null;
  const root = Buffer.from(theirs.session.currentRatchet.rootKey, "base64");
  const keys = Buffer.from(hkdfSync("sha256", new Uint8Array(32), root, "WhisperRatchet", 64));
  const pubKey = Buffer.concat([Uint8Array.of(5), point]).toString("base64");
  const chain = {
    chainKey: { counter: -1, key: keys.toString("base64", 32) },
    chainType: 1,
    messageKeys: {},
  };
  const ephemeralKeyPair = { pubKey, privKey: Buffer.alloc(32, 1).toString("base64") };
  return withSession(record, open.key, {
    ...open.session,
    currentRatchet: { ...open.session.currentRatchet, ephemeralKeyPair },
    _chains: { ...open.session._chains, [pubKey]: chain },
  });
}

function withSendingChain(
  record: StoredRecord | null,
  change: (key: StoredChain["chainKey"]) => StoredChain["chainKey"],
): StoredRecord | null {
  const open = record && openSession(record);
  if (!record || !open || open.session.pendingPreKey !== undefined) return null;
  const { pubKey } = open.session.currentRatchet.ephemeralKeyPair;
  const { [pubKey]: chain } = open.session._chains;
  // In the place of the key before: records are compared as text.
  const changed = { ...chain!, chainKey: change(chain!.chainKey) };
  const session = { ...open.session, _chains: { ...open.session._chains, [pubKey]: changed } };
  return withSession(record, open.key, session);
}
