/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
const RECEIVING = 2;
const KEPT_RECEIVING_CHAINS = 5;
const KEPT_CLOSED_SESSIONS = 10;
// A sender key without leftovers has about 600 bytes; below this, reading it would cost more than it saves.
const WORTH_PRUNING_BYTES = 4_096;

interface SerializedSession {
  indexInfo: { closed: number; used?: number };
  _chains: Record<string, { chainType: number }>;
}

/** A session record as libsignal serializes it. Both maps are in the order in which their entries were made. */
export interface SerializedRecord {
  version: string;
  _sessions: Record<string, SerializedSession>;
}

/**
 * Drops what libsignal would keep for ever: of each session all but the newest five receiving chains (as Signal's own
 * clients do), of the closed sessions all but the ten that were used last. Without this a record grows by 100 bytes with
 * every change of turns.
 *
 * @returns the same record when there is nothing to drop; otherwise a copy
 */
export function pruneSession(record: SerializedRecord): SerializedRecord {
  let sessions = Object.entries(record._sessions);
  const closed = sessions.filter(([, session]) => session.indexInfo.closed !== -1);
  if (closed.length > KEPT_CLOSED_SESSIONS) {
    closed.sort(([, a], [, b]) => (b.indexInfo.used ?? 0) - (a.indexInfo.used ?? 0));
    const dropped = new Set(closed.slice(KEPT_CLOSED_SESSIONS).map(([key]) => key));
    sessions = sessions.filter(([key]) => !dropped.has(key));
  }
  const pruned = sessions.map(([key, session]) => [key, pruneChains(session)] as const);
  const unchanged =
    pruned.length === Object.keys(record._sessions).length &&
    pruned.every(([key, session]) => session === record._sessions[key]);
  return unchanged ? record : { ...record, _sessions: Object.fromEntries(pruned) };
}

function pruneChains(session: SerializedSession): SerializedSession {
  const keys = Object.keys(session._chains);
  if (keys.length <= KEPT_RECEIVING_CHAINS + 1) return session;
  const receiving = keys.filter((key) => session._chains[key]?.chainType === RECEIVING);
  const dropped = new Set(receiving.slice(0, -KEPT_RECEIVING_CHAINS));
  if (dropped.size === 0) return session;
  return {
    ...session,
    _chains: Object.fromEntries(Object.entries(session._chains).filter(([key]) => !dropped.has(key))),
  };
}

interface SenderKeyState {
  senderSigningKey?: { private?: { data?: ArrayLike<unknown> } };
  senderMessageKeys?: unknown[];
}

/**
 * Empties the skipped message keys of our own sender keys: encrypting to a group skips one iteration each time and stores
 * a key that nobody will ever ask for, up to 330 kB. Others' sender keys need theirs and stay as they are.
 *
 * @param value the JSON text of a sender key record
 */
export function pruneSenderKey(value: Uint8Array): Uint8Array {
  if (value.length < WORTH_PRUNING_BYTES) return value;
  const states = JSON.parse(Buffer.from(value).toString("utf8")) as SenderKeyState[];
  let changed = false;
  for (const state of states) {
    // Only the owner of a sender key has its private signing key.
    const own = (state.senderSigningKey?.private?.data ?? "").length > 0;
    if (!own || !state.senderMessageKeys?.length) continue;
    state.senderMessageKeys = [];
    changed = true;
  }
  return changed ? Buffer.from(JSON.stringify(states)) : value;
}
