/* oxlint-disable no-underscore-dangle -- the names are those of libsignal */
const RECEIVING = 2;
const KEPT_RECEIVING_CHAINS = 5;
const KEPT_CLOSED_SESSIONS = 10;
// As many as may be missing between two messages, as in Signal's own clients (there for each chain).
const KEPT_SKIPPED_KEYS = 2_000;
// A sender key without leftovers has about 600 bytes; below this, reading it would cost more than it saves.
const WORTH_PRUNING_BYTES = 4_096;

interface SerializedSession {
  indexInfo: { closed: number; used?: number };
  _chains: Record<string, Chain>;
}

interface Chain {
  chainType: number;
  /** Keys of messages that have not come, by counter, which is the order in which they are kept. */
  messageKeys?: Record<string, string>;
}

/** A session record as libsignal serializes it. Both maps are in the order in which their entries were made. */
export interface SerializedRecord {
  version: string;
  _sessions: Record<string, SerializedSession>;
}

/**
 * Drops what libsignal would keep for ever: of each session all but the newest five receiving chains (as Signal's own
 * clients do), of the record all but 2,000 keys of messages that have not come (those of the open session first, then those
 * of the session that was used last), and all but the ten closed sessions that were used last. Without this a record grows by
 * 100 bytes with every change of turns, and by up to 100 kB with each message of somebody who leaves out as many as may be
 * missing.
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
  const pruned = withinLimit(sessions);
  const unchanged =
    pruned.length === Object.keys(record._sessions).length &&
    pruned.every(([key, session]) => session === record._sessions[key]);
  return unchanged ? record : { ...record, _sessions: Object.fromEntries(pruned) };
}

/** Sessions share one limit of keys, so that nobody gets more room by opening many; their order stays. */
function withinLimit(sessions: [string, SerializedSession][]): (readonly [string, SerializedSession])[] {
  const isOpen = ({ indexInfo }: SerializedSession): boolean => indexInfo.closed === -1;
  const byUse = sessions.toSorted(
    ([, a], [, b]) =>
      Number(isOpen(b)) - Number(isOpen(a)) || (b.indexInfo.used ?? 0) - (a.indexInfo.used ?? 0),
  );
  let room = KEPT_SKIPPED_KEYS;
  const pruned = new Map<string, SerializedSession>();
  for (const [key, session] of byUse) {
    const kept = pruneSkippedKeys(newestChains(session._chains), room);
    room = kept.room;
    pruned.set(key, kept.chains === session._chains ? session : { ...session, _chains: kept.chains });
  }
  return sessions.map(([key]) => [key, pruned.get(key)!]);
}

function newestChains(chains: Record<string, Chain>): Record<string, Chain> {
  const keys = Object.keys(chains);
  if (keys.length <= KEPT_RECEIVING_CHAINS + 1) return chains;
  const receiving = keys.filter((key) => chains[key]?.chainType === RECEIVING);
  const dropped = new Set(receiving.slice(0, -KEPT_RECEIVING_CHAINS));
  if (dropped.size === 0) return chains;
  return Object.fromEntries(Object.entries(chains).filter(([key]) => !dropped.has(key)));
}

/** The newest chains keep theirs first, and of a chain's the last ones stay. */
function pruneSkippedKeys(
  chains: Record<string, Chain>,
  limit: number,
): { chains: Record<string, Chain>; room: number } {
  let kept: Record<string, Chain> = chains;
  let room = limit;
  for (const id of Object.keys(chains).toReversed()) {
    const { messageKeys = {} } = chains[id]!;
    const counters = Object.keys(messageKeys);
    const dropped = counters.length - room;
    room = Math.max(0, -dropped);
    if (dropped <= 0) continue;
    const last = counters.slice(dropped).map((counter) => [counter, messageKeys[counter]!] as const);
    if (kept === chains) kept = { ...chains };
    kept[id] = { ...chains[id]!, messageKeys: Object.fromEntries(last) };
  }
  return { chains: kept, room };
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
