import { auditLog } from "../../drizzle/schema.ts";
import { giveWay } from "../model/give-way.ts";
import type { Page, PageWanted } from "../model/page.ts";
import { definePages, ROWS_OF_PAGE } from "../store/pages.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";

/** Who has changed something. */
export interface Actor {
  kind: "key" | "operator" | "link" | "nobody";
  /** Id of the key or the link. */
  id: string | null;
  /** Name that the key had. */
  name: string | null;
}

/** One change, as it is asked for. */
export interface NewAuditEntry {
  actor: Actor;
  /** Whose account it was about; null: none's. */
  accountId: string | null;
  /** The endpoint, by its name. */
  action: string;
  /** A number, or the id of a record. */
  target: string | null;
  /** What was asked for, without secrets; null: there is nothing to say. */
  changes: Record<string, unknown> | null;
  requestId: string;
  address: string;
}

/** One change as it is listed. */
export interface AuditEntry extends NewAuditEntry {
  id: number;
  /** Unix milliseconds. */
  at: number;
}

/** What was changed through the API, by whom. */
export interface AuditLog {
  write(entry: NewAuditEntry): Promise<void>;
  /** Newest first. @param accountId undefined: of all accounts, and of none */
  list(accountId: string | undefined, wanted: PageWanted): Promise<Page<AuditEntry>>;
}

const ERASED_AT_ONCE = 200;
const WEIGHT = "coalesce(octet_length(changes), 0)";
// It always holds: by it the planner goes through the index by time.
const OF_ALL = definePages("audit_log", "created_at > 0", 0, WEIGHT);
const OF_ACCOUNT = definePages("audit_log", "account_id = ?1", 1, WEIGHT);
const ROWS = defineQuery(
  `SELECT id, created_at, actor_kind, actor_id, actor_name, account_id, action, target, changes, request_id, address
  FROM audit_log ${ROWS_OF_PAGE}`,
  {
    id: auditLog.id,
    at: auditLog.createdAt,
    kind: auditLog.actorKind,
    actorId: auditLog.actorId,
    actorName: auditLog.actorName,
    accountId: auditLog.accountId,
    action: auditLog.action,
    target: auditLog.target,
    changes: auditLog.changes,
    requestId: auditLog.requestId,
    address: auditLog.address,
  },
);
const INSERT = `INSERT INTO audit_log
  (created_at, actor_kind, actor_id, actor_name, account_id, action, target, changes, request_id, address)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const ERASE = `DELETE FROM audit_log WHERE rowid IN (SELECT rowid FROM audit_log
  WHERE account_id = ? AND actor_kind <> 'operator' LIMIT ${ERASED_AT_ONCE})`;

const contextOf = (at: number, requestId: string): string => `audit_log:${at}:${requestId}`;

/** The log in the database. What was asked for is sealed: it names people and their systems. */
export function createAuditLog(store: Store): AuditLog {
  const { box } = store;
  return {
    async write({ actor, accountId, action, target, changes, requestId, address }) {
      const at = store.now();
      const sealed = changes && box.sealJson(changes, contextOf(at, requestId));
      const by = [actor.kind, actor.id, actor.name];
      const args = [at, ...by, accountId, action, target, sealed, requestId, address];
      await store.writer.commit([{ sql: INSERT, args }]);
    },

    async list(accountId, wanted) {
      const { rowids, ...page } = await (accountId === undefined
        ? OF_ALL.find(store, [], wanted)
        : OF_ACCOUNT.find(store, [accountId], wanted));
      const rows = await store.read(ROWS, [rowids]);
      const items = rows.map((row): AuditEntry => {
        const { kind, actorId, actorName, changes: sealed, id, at, requestId } = row;
        const changes = sealed && box.openJson<Record<string, unknown>>(sealed, contextOf(at, requestId));
        const { accountId: of, action, target, address } = row;
        const actor = { kind, id: actorId, name: actorName };
        return { id, at, actor, accountId: of, action, target, changes, requestId, address };
      });
      return { ...page, items };
    },
  };
}

/** What an account's own keys and links have changed goes with it; what the operator did with it stays. */
export async function eraseAuditOf({ writer }: Pick<Store, "writer">, accountId: string): Promise<void> {
  const unit = [{ sql: ERASE, args: [accountId] }];
  while ((await writer.commit(unit))[0]!.rowsAffected === ERASED_AT_ONCE) await giveWay();
}
