/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
import type { StoredKeyPair } from "./curve.ts";

/** One chain of a ratchet. Keys are base64. */
export interface StoredChain {
  /** `key` is missing once the chain is closed; `counter` is that of the last key that was derived, −1 at first. */
  chainKey: { counter: number; key?: string | undefined };
  chainType: number;
  /** Keys of messages that were skipped, by counter. */
  messageKeys: Record<string, string>;
}

/** One session of a record. */
export interface StoredSession {
  registrationId: number;
  currentRatchet: {
    ephemeralKeyPair: StoredKeyPair;
    /** Base64, like all keys here. */
    lastRemoteEphemeralKey: string;
    previousCounter: number;
    rootKey: string;
  };
  indexInfo: {
    baseKey: string;
    baseKeyType: number;
    /** −1: open, else when it was closed, Unix milliseconds. */
    closed: number;
    /** Unix milliseconds. */
    used: number;
    created: number;
    remoteIdentityKey: string;
  };
  /** By the public key of whoever sends on it, in the order in which they were made. */
  _chains: Record<string, StoredChain>;
  /** We have opened it, and nothing has come back yet. */
  pendingPreKey?: object;
}

/** A session record in the form that libsignal stores it in (`SessionRecord.serialize`), version `v1`. */
export interface StoredRecord {
  version: string;
  /** By base key, in the order in which they were made. */
  _sessions: Record<string, StoredSession>;
}

/** The version that this was written for; records of others are libsignal's affair. */
const VERSION = "v1";
const OPEN = -1;

/** Its open session and the key of that in the record; null when there is none, or the record is of another version. */
export function openSession(record: StoredRecord): { key: string; session: StoredSession } | null {
  if (record.version !== VERSION) return null;
  for (const key in record._sessions) {
    const session = record._sessions[key]!;
    if (session.indexInfo.closed === OPEN) return { key, session };
  }
  return null;
}

/** A copy of the record with another state of one session. */
export function withSession(record: StoredRecord, key: string, session: StoredSession): StoredRecord {
  return { ...record, _sessions: { ...record._sessions, [key]: session } };
}
