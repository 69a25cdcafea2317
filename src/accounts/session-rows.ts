import { sessions } from "../../drizzle/schema.ts";
import { defineTopic, type Cluster } from "../model/nodes/cluster.ts";
import { createLru } from "../model/lru.ts";
import { MINUTE_MS, SECOND_MS } from "../model/time.ts";
import { defineQuery } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";

/** What somebody was let in by. */
export type SessionKind = "key" | "operator" | "link";

/** A session as it is listed. Times are Unix milliseconds. */
export interface SessionRecord {
  id: string;
  kind: SessionKind;
  /** Hash of what it was opened with; sessions of the same belong together. */
  credential: string;
  /** Id of the key or the link; of the operator the account that was chosen, or null. */
  accountId: string | null;
  createdAt: number;
  /** Of others within a minute of the truth. */
  lastUsedAt: number;
  /** When it ends if it is not used until then. */
  idleEndsAt: number;
  endsAt: number;
  /** Where it was opened. */
  address: string;
  userAgent: string;
}

/** Sessions of one key, of one link, and of the operator: when there is one more, that ends which was not used the longest. */
export const MOST_SESSIONS = 50;
const MAX_KNOWN = 10_000;
/** Among several nodes: what another one has changed while the bus was away. */
const KNOWN_FOR_MS = 5 * SECOND_MS;
const NOTE_USE_EVERY_MS = MINUTE_MS;
/** Sessions are others now. */
const SESSIONS = defineTopic<null>("sessions");

const ROW = {
  id: sessions.id,
  kind: sessions.kind,
  credential: sessions.credential,
  accountId: sessions.accountId,
  createdAt: sessions.createdAt,
  lastUsedAt: sessions.lastUsedAt,
  endsAt: sessions.endsAt,
  address: sessions.address,
  userAgent: sessions.userAgent,
};
const SELECT =
  "SELECT id, kind, credential, account_id, created_at, last_used_at, ends_at, address, user_agent FROM sessions";
const FIND = defineQuery(`${SELECT} WHERE hash = ?`, ROW);
const OF = defineQuery(
  `${SELECT} WHERE credential = ?1 AND last_used_at > ?2 AND ends_at > ?3 ORDER BY last_used_at DESC LIMIT ${MOST_SESSIONS}`,
  ROW,
);
const INSERT = `INSERT INTO sessions
  (id, hash, kind, credential, account_id, created_at, last_used_at, ends_at, address, user_agent)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const END_OLDEST = `DELETE FROM sessions WHERE rowid IN (SELECT rowid FROM sessions WHERE credential = ?
  ORDER BY last_used_at DESC LIMIT -1 OFFSET ${MOST_SESSIONS - 1})`;

/** A session as it is stored. */
export type SessionRow = Omit<SessionRecord, "idleEndsAt">;

interface Known {
  row: SessionRow;
  /** When its use was last written. */
  noted: number;
  /** When it was read, as `Time.monotonic`. */
  readAt: number;
}

/** Rows of sessions. Those that were asked for are remembered until one of them changes, here or at another node. */
export interface SessionRows {
  /** @param hash of its token */
  find(hash: string): Promise<Known | null>;
  /** Of one credential, those that may still be used. */
  list(credential: string, usedSince: number): Promise<SessionRow[]>;
  /** Writes it down once a minute. */
  noteUse(entry: Known): void;
  /** Also ends the one of its credential that was not used the longest, when there are too many. */
  insert(row: SessionRow, hash: string): Promise<void>;
  /** @returns how many rows have changed */
  change(statement: Statement): Promise<number>;
}

/** Nothing is remembered yet. */
export function createSessionRows(store: Store, { node, bus }: Pick<Cluster, "node" | "bus">): SessionRows {
  const known = createLru<string, Known>(MAX_KNOWN);
  // Counts changes: what was read before a change must not be remembered after it.
  let changes = 0;

  function drop(): void {
    changes++;
    known.clear();
  }
  bus.listen(SESSIONS, drop);
  bus.onGap(drop);

  async function commit(statements: Statement[]): Promise<number> {
    const results = await store.writer.commit(statements);
    drop();
    bus.tell(SESSIONS, null);
    return results.at(-1)!.rowsAffected;
  }

  return {
    async find(hash) {
      const entry = known.get(hash);
      const readAt = store.time.monotonic();
      if (entry !== undefined && (node === null || readAt - entry.readAt < KNOWN_FOR_MS)) return entry;
      const before = changes;
      const row = await store.readOne(FIND, [hash]);
      if (row === null) return null;
      const found = { row: { ...row }, noted: row.lastUsedAt, readAt };
      if (before === changes) known.set(hash, found);
      return found;
    },
    list: (credential, usedSince) => store.read(OF, [credential, usedSince, store.now()]),
    noteUse(entry) {
      const now = store.now();
      entry.row.lastUsedAt = Math.max(entry.row.lastUsedAt, now);
      if (now - entry.noted < NOTE_USE_EVERY_MS) return;
      entry.noted = now;
      const use = { sql: "UPDATE sessions SET last_used_at = ? WHERE id = ?", args: [now, entry.row.id] };
      // Nobody waits for it, and a disk that is full is reported by those who must write.
      store.writer.commit([use]).catch(() => undefined);
    },
    async insert(row, hash) {
      await commit([{ sql: END_OLDEST, args: [row.credential] }, insertion(row, hash)]);
    },
    change: (statement) => commit([statement]),
  };
}

function insertion(row: SessionRow, hash: string): Statement {
  const { id, kind, credential, accountId, createdAt, lastUsedAt, endsAt, address, userAgent } = row;
  return {
    sql: INSERT,
    args: [id, hash, kind, credential, accountId, createdAt, lastUsedAt, endsAt, address, userAgent],
  };
}
