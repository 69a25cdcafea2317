import { randomUUID } from "node:crypto";
import { sessions } from "../../drizzle/schema.ts";
import type { Config } from "../config.ts";
import { alone } from "../model/nodes/alone.ts";
import { defineTopic, type Cluster } from "../model/nodes/cluster.ts";
import { createLru } from "../model/lru.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../model/time.ts";
import { defineQuery } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import { adminTokenHash, isAdminToken } from "./admin-token.ts";
import type { ApiKeys } from "./api-keys.ts";
import type { Caller } from "./caller.ts";
import type { Links } from "./links.ts";
import { operatorIn } from "./operator-caller.ts";
import type { OperatorLink } from "./operator-link.ts";
import { isToken, makeToken } from "./session-token.ts";

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

/** Somebody who is signed in. */
export interface Session extends SessionRecord {
  /** Secret of the page that is signed in: writes must bring it. */
  csrfToken: string;
  /** What may be done by it at this moment; null: the operator has chosen no account. */
  caller: Caller | null;
}

/** What somebody signs in with, exactly one of the three, and from where. */
export interface Opening {
  with: { apiKey: string } | { adminToken: string } | { link: string };
  address: string;
  userAgent: string;
}

/** Who is signed in. */
export interface Sessions {
  /** @returns the session, and the secret of its cookie for the only time; null when what it was tried with is wrong */
  open(opening: Opening): Promise<{ session: Session; token: string } | null>;
  /**
   * Null when nobody is signed in by this token, or no longer. What a session may do is what its key, token or link may at
   * this moment: deleted, rotated or expired, the session is over. Known ones are answered from memory; an end counts here at
   * once, and at other nodes as soon as the bus has brought it, after five seconds at the latest.
   *
   * @param isUse false: only looks, and does not keep it from ending for not being used
   */
  authenticate(token: string, isUse?: boolean): Promise<Session | null>;
  /** The session that is used last comes first; at most `MOST_SESSIONS`. */
  list(credential: string): Promise<SessionRecord[]>;
  /** `credential` of whoever is let in by the operator's token. */
  operatorCredential(): string;
  /** False when there is none. */
  end(credential: string, id: string): Promise<boolean>;
  /** Of the operator: whose endpoints are asked from now on. */
  choose(id: string, accountId: string | null): Promise<void>;
}

/** Sessions of one key, of one link, and of the operator: when there is one more, that ends which was not used the longest. */
export const MOST_SESSIONS = 50;
const MAX_KNOWN = 10_000;
/** Among several nodes: what another one has changed while the bus was away. */
const KNOWN_FOR_MS = 5 * SECOND_MS;
const NOTE_USE_EVERY_MS = MINUTE_MS;
const LONGEST_AGENT = 200;
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

type Row = Omit<SessionRecord, "idleEndsAt">;

interface Known {
  row: Row;
  /** When its use was last written. */
  noted: number;
  /** When it was read, as `Time.monotonic`. */
  readAt: number;
}

interface SessionsDeps {
  store: Store;
  config: Pick<Config, "sessionIdleMinutes" | "sessionHours">;
  keys: Pick<ApiKeys, "authenticate" | "withHash" | "hashOf">;
  links: Pick<Links, "open" | "callerOf">;
  operatorLink: Pick<OperatorLink, "spend">;
  accounts: { get(id: string): Promise<Caller["account"] | null> };
  /** Default: there are no other processes. */
  cluster?: Pick<Cluster, "node" | "bus">;
}

/** Sessions in the database, by the hash of their cookie's token. */
export function createSessions({ store, config, cluster = alone(), ...deps }: SessionsDeps): Sessions {
  const { node, bus } = cluster;
  const idleMs = config.sessionIdleMinutes * MINUTE_MS;
  const known = createLru<string, Known>(MAX_KNOWN);
  // Counts changes: what was read before a change must not be remembered after it.
  let changes = 0;
  const hashOf = (token: string): string => store.box.hmac("session", token).toString("hex");

  async function find(hash: string): Promise<Known | null> {
    const entry = known.get(hash);
    const readAt = store.time.monotonic();
    if (entry !== undefined && (node === null || readAt - entry.readAt < KNOWN_FOR_MS)) return entry;
    const before = changes;
    const row = await store.readOne(FIND, [hash]);
    if (row === null) return null;
    const found = { row: { ...row }, noted: row.lastUsedAt, readAt };
    if (before === changes) known.set(hash, found);
    return found;
  }

  function noteUse(entry: Known): void {
    const now = store.now();
    entry.row.lastUsedAt = Math.max(entry.row.lastUsedAt, now);
    if (now - entry.noted < NOTE_USE_EVERY_MS) return;
    entry.noted = now;
    const use = { sql: "UPDATE sessions SET last_used_at = ? WHERE id = ?", args: [now, entry.row.id] };
    // Nobody waits for it, and a disk that is full is reported by those who must write.
    store.writer.commit([use]).catch(() => undefined);
  }

  function drop(): void {
    changes++;
    known.clear();
  }
  bus.listen(SESSIONS, drop);
  bus.onGap(drop);

  async function change(statement: Statement): Promise<number> {
    const [result] = await store.writer.commit([statement]);
    drop();
    bus.tell(SESSIONS, null);
    return result!.rowsAffected;
  }

  /** Undefined: what it was opened with is none any more. */
  async function callerOf({ kind, credential, accountId }: Row): Promise<Caller | null | undefined> {
    if (kind === "key") return (await deps.keys.withHash(credential)) ?? undefined;
    if (kind === "link") return (await deps.links.callerOf(credential)) ?? undefined;
    if (credential !== adminTokenHash(store)) return undefined;
    const account = accountId === null ? null : await deps.accounts.get(accountId);
    return account && operatorIn(account);
  }

  /** What it is tried with, looked up; null when it is wrong. */
  async function credentialOf(given: Opening["with"]): Promise<Opened | null> {
    const end = store.now() + config.sessionHours * HOUR_MS;
    const operator: Opened = {
      kind: "operator",
      credential: adminTokenHash(store),
      endsAt: end,
      caller: null,
    };
    if ("adminToken" in given) return isAdminToken(store, given.adminToken) ? operator : null;
    if ("link" in given) {
      if (deps.operatorLink.spend(given.link)) return operator;
      const link = await deps.links.open(given.link);
      return link && { kind: "link", credential: link.hash, endsAt: link.expiresAt, caller: link.caller };
    }
    const caller = await deps.keys.authenticate(given.apiKey);
    return caller && { kind: "key", credential: deps.keys.hashOf(given.apiKey), endsAt: end, caller };
  }

  const shown = (row: Row): SessionRecord => ({
    ...row,
    idleEndsAt: Math.min(row.endsAt, row.lastUsedAt + idleMs),
  });
  const csrfTokenOf = (token: string): string => store.box.hmac("csrf", token).toString("base64url");

  return {
    operatorCredential: () => adminTokenHash(store),

    async open(opening) {
      const opened = await credentialOf(opening.with);
      if (opened === null) return null;
      const { caller, ...from } = opened;
      const token = makeToken();
      const now = store.now();
      const row: Row = {
        ...from,
        id: randomUUID(),
        accountId: caller?.accountId ?? null,
        createdAt: now,
        lastUsedAt: now,
        address: opening.address,
        userAgent: opening.userAgent.slice(0, LONGEST_AGENT),
      };
      await store.writer.commit([{ sql: END_OLDEST, args: [row.credential] }, insert(row, hashOf(token))]);
      drop();
      bus.tell(SESSIONS, null);
      return { token, session: { ...shown(row), csrfToken: csrfTokenOf(token), caller } };
    },

    async authenticate(token, isUse = true) {
      if (!isToken(token)) return null;
      const entry = await find(hashOf(token));
      if (entry === null) return null;
      const { idleEndsAt } = shown(entry.row);
      if (idleEndsAt <= store.now()) return null;
      const caller = await callerOf(entry.row);
      if (caller === undefined) return null;
      if (isUse) noteUse(entry);
      return { ...shown(entry.row), csrfToken: csrfTokenOf(token), caller };
    },

    async list(credential) {
      const now = store.now();
      return (await store.read(OF, [credential, now - idleMs, now])).map(shown);
    },

    end: async (credential, id) =>
      (await change({
        sql: "DELETE FROM sessions WHERE id = ? AND credential = ?",
        args: [id, credential],
      })) > 0,

    async choose(id, accountId) {
      await change({
        sql: "UPDATE sessions SET account_id = ? WHERE id = ? AND kind = 'operator'",
        args: [accountId, id],
      });
    },
  };
}

interface Opened extends Pick<Row, "kind" | "credential" | "endsAt"> {
  caller: Caller | null;
}

function insert(row: Row, hash: string): Statement {
  const { id, kind, credential, accountId, createdAt, lastUsedAt, endsAt, address, userAgent } = row;
  return {
    sql: INSERT,
    args: [id, hash, kind, credential, accountId, createdAt, lastUsedAt, endsAt, address, userAgent],
  };
}
