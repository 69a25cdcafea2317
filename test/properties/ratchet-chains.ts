/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
import { createHmac } from "node:crypto";
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
