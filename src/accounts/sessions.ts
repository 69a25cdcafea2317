import { randomUUID } from "node:crypto";
import type { Config } from "../config.ts";
import { alone } from "../model/nodes/alone.ts";
import type { Cluster } from "../model/nodes/cluster.ts";
import { MINUTE_MS } from "../model/time.ts";
import type { Store } from "../store/store.ts";
import { adminTokenHash } from "./admin-token.ts";
import type { Caller } from "./caller.ts";
import { callerOf, letIn, type Credential, type CredentialsDeps } from "./session-credentials.ts";
import { createSessionRows, type SessionRecord, type SessionRow } from "./session-rows.ts";
import { isToken, makeToken } from "./session-token.ts";

/** Somebody who is signed in. */
export interface Session extends SessionRecord {
  /** Secret of the page that is signed in: writes must bring it. */
  csrfToken: string;
  /** What may be done by it at this moment; null: the operator has chosen no account. */
  caller: Caller | null;
}

/** What somebody signs in with, exactly one of the three, and from where. */
export interface Opening {
  with: Credential;
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

const LONGEST_AGENT = 200;

interface SessionsDeps extends CredentialsDeps {
  store: Store;
  config: Pick<Config, "sessionIdleMinutes" | "sessionHours">;
  /** Default: there are no other processes. */
  cluster?: Pick<Cluster, "node" | "bus">;
}

/** Sessions in the database, by the hash of their cookie's token. */
export function createSessions({ cluster = alone(), ...deps }: SessionsDeps): Sessions {
  const { store, config } = deps;
  const rows = createSessionRows(store, cluster);
  const idleMs = config.sessionIdleMinutes * MINUTE_MS;
  const hashOf = (token: string): string => store.box.hmac("session", token).toString("hex");
  const csrfTokenOf = (token: string): string => store.box.hmac("csrf", token).toString("base64url");
  const shown = (row: SessionRow): SessionRecord => ({
    ...row,
    idleEndsAt: Math.min(row.endsAt, row.lastUsedAt + idleMs),
  });

  return {
    operatorCredential: () => adminTokenHash(store),

    async open({ with: given, address, userAgent }) {
      const found = await letIn(deps, given);
      if (found === null) return null;
      const { caller, ...from } = found;
      const token = makeToken();
      const now = store.now();
      const row: SessionRow = {
        ...from,
        id: randomUUID(),
        accountId: caller?.accountId ?? null,
        createdAt: now,
        lastUsedAt: now,
        address,
        userAgent: userAgent.slice(0, LONGEST_AGENT),
      };
      await rows.insert(row, hashOf(token));
      return { token, session: { ...shown(row), csrfToken: csrfTokenOf(token), caller } };
    },

    async authenticate(token, isUse = true) {
      if (!isToken(token)) return null;
      const entry = await rows.find(hashOf(token));
      if (entry === null) return null;
      const { idleEndsAt } = shown(entry.row);
      if (idleEndsAt <= store.now()) return null;
      const caller = await callerOf(deps, entry.row);
      if (caller === undefined) return null;
      if (isUse) rows.noteUse(entry);
      return { ...shown(entry.row), csrfToken: csrfTokenOf(token), caller };
    },

    list: async (credential) => (await rows.list(credential, store.now() - idleMs)).map(shown),

    end: async (credential, id) =>
      (await rows.change({
        sql: "DELETE FROM sessions WHERE id = ? AND credential = ?",
        args: [id, credential],
      })) > 0,

    async choose(id, accountId) {
      await rows.change({
        sql: "UPDATE sessions SET account_id = ? WHERE id = ? AND kind = 'operator'",
        args: [accountId, id],
      });
    },
  };
}
