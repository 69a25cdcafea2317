import type { ResultSet } from "@libsql/client";
import type { AuthenticationCreds, SignalDataSet } from "@whiskeysockets/baileys";
import { failpoint } from "../../model/failpoint.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import { joinIntakes, NO_INTAKE, type Intake } from "../../store/write/intake.ts";
import type { Statement, Store } from "../../store/store.ts";
import { baileys } from "../baileys.ts";
import { journalInsert, type JournalEntry } from "./journal-rows.ts";
import type { CachedKeys, KeyChanges } from "./key-cache.ts";
import { keyStatements, lidPairStatements } from "./key-rows.ts";

const LID_MAPPING = "lid-mapping";
const JOURNAL = "journal";
const KEPT_HISTORY_MARKS = 20;
/** Kinds of keys that grow by what others send, and are made anew when they are gone. */
const REPLACEABLE = ["session", "sender-key"];

/** A set of changes as Baileys gives it, and the journal entries by hash that the repository adds to a transaction. */
export type DataSet = SignalDataSet & { [JOURNAL]?: Record<string, JournalEntry> };

/** What the credentials and keys of one number need. */
export interface AuthStateOptions {
  store: Store;
  deviceId: number;
  /** The number's keys in memory, until they are dropped. */
  cache: CachedKeys;
  /** Called before a failed write, or a read that the database failed, rejects. The connection must close now: nothing after it may be acknowledged. */
  onWriteFailed(error: unknown): void;
}

/** Writes of one number's credentials and keys; see `AuthState`. */
export interface KeyWrites {
  creds(): void;
  keys(data: DataSet): Promise<void>;
  flushed(): Promise<void>;
}

/** What one change of keys comes to. */
interface Change {
  changes: KeyChanges;
  /** Rows that belong into the same commit: credentials, hashes, pairs of LIDs and numbers. */
  beside: Statement[];
  /** What the ciphertexts of the change brought. */
  received: Intake;
}

/** @param creds as they are written, whenever `creds()` says so */
export function createKeyWrites(options: AuthStateOptions, creds: AuthenticationCreds): KeyWrites {
  const { store, deviceId } = options;
  const { commit, writeInTheEnd, settled } = createCommits(options);
  let credsChanged = false;

  function takeCreds(): Statement[] {
    if (!credsChanged) return [];
    credsChanged = false;
    failpoint("before-creds-commit");
    return [credsStatement(store, deviceId, creds)];
  }

  return {
    creds(): void {
      // A QR that nobody has scanned is worth nothing after a restart.
      if (!creds.account || credsChanged) return;
      credsChanged = true;
      // Several updates arrive in one turn of the event loop; a `set` in between takes them along.
      queueMicrotask(() => {
        const statements = takeCreds();
        if (statements.length === 0) return;
        commit(statements).then(
          () => failpoint("after-creds-commit"),
          () => (credsChanged = true),
        );
      });
    },
    async keys({ [JOURNAL]: journal = {}, [LID_MAPPING]: pairs, ...keys }): Promise<void> {
      const entries = Object.values(journal);
      const beside = [
        ...takeCreds(),
        ...Object.entries(journal).map(([hash, entry]) => journalInsert(store, deviceId, hash, entry)),
        ...(pairs ? lidPairStatements(deviceId, pairs, store.now()) : []),
      ];
      const bringsPreKeys = Object.values(keys["pre-key"] ?? {}).some((key) => key !== null);
      if (bringsPreKeys) failpoint("before-pre-keys-commit");
      const changes = { ...keys, ...(pairs && { [LID_MAPPING]: pairs }) };
      const received = joinIntakes(...entries.map(({ intake }) => intake));
      await writeInTheEnd({ changes, beside, received }, async (error) => {
        for (const entry of entries) await entry.refused(error);
      });
      if (bringsPreKeys) failpoint("after-pre-keys-commit");
    },
    async flushed(): Promise<void> {
      if (credsChanged) await commit(takeCreds());
      await settled();
    },
  };
}

/** What one number writes, one commit after the other. */
interface Commits {
  /** Rejects with the connection closed. */
  commit(statements: Statement[]): Promise<void>;
  /**
   * Whatever the database refuses for its own sake takes nothing but itself down, and keeps the number from nothing: first
   * the sessions are given up, which are made anew; then the messages, which are noted as missing; then both.
   */
  writeInTheEnd(change: Change, onRefused: (error: unknown) => Promise<void>): Promise<void>;
  /** Resolves when the last one has its outcome, whatever that is. */
  settled(): Promise<void>;
}

function createCommits({ store, deviceId, cache, onWriteFailed }: AuthStateOptions): Commits {
  let last: Promise<unknown> = Promise.resolve();

  /** Rejects with the connection closed when the database is away; a fault of the statements themselves leaves it open. */
  async function attempt(statements: Statement[]): Promise<ResultSet[]> {
    const done = store.writer.commit(statements);
    last = done;
    try {
      return await done;
    } catch (error) {
      if (error instanceof StorageUnavailable) onWriteFailed(error);
      throw error;
    }
  }

  async function commit(statements: Statement[]): Promise<void> {
    try {
      await attempt(statements);
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) onWriteFailed(error);
      throw error;
    }
  }

  /** Readers see the changes from now on, unless the commit is not made. */
  async function write({ changes, beside, received }: Change): Promise<void> {
    const written = cache.begin(changes);
    try {
      const statements = [
        ...received.statements,
        ...beside,
        ...keyStatements(store, deviceId, written.encoded),
      ];
      const results = statements.length > 0 ? await attempt(statements) : [];
      received.committed(results.slice(0, received.statements.length));
      written.committed();
    } catch (error) {
      written.failed();
      throw error;
    }
  }

  async function writeInTheEnd(change: Change, onRefused: (error: unknown) => Promise<void>): Promise<void> {
    const withoutSessions = { ...change, changes: withoutReplaceable(change.changes) };
    const withoutMessages = { ...change, received: NO_INTAKE };
    const fits = async (smaller: Change): Promise<boolean> => {
      try {
        await write(smaller);
        return true;
      } catch (error) {
        if (error instanceof StorageUnavailable) throw error;
        return false;
      }
    };
    try {
      return await write(change);
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      if (withoutSessions.changes !== change.changes && (await fits(withoutSessions))) return;
      await onRefused(error);
    }
    if (await fits(withoutMessages)) return;
    try {
      await write({ ...withoutSessions, received: NO_INTAKE });
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) onWriteFailed(error);
      throw error;
    }
  }

  return { commit, writeInTheEnd, settled: async () => void (await last.catch(() => undefined)) };
}

/** The same changes, but what others can make anew is deleted; the very same when there is no such thing in it. */
function withoutReplaceable(changes: KeyChanges): KeyChanges {
  const smaller = { ...changes };
  for (const type of REPLACEABLE) {
    const values = changes[type];
    if (values !== undefined) smaller[type] = Object.fromEntries(Object.keys(values).map((id) => [id, null]));
  }
  return REPLACEABLE.some((type) => changes[type] !== undefined) ? smaller : changes;
}

/** What a number's sealed credentials are bound to. */
export const credsContext = (deviceId: number): string => `wa_creds:${deviceId}`;

function credsStatement(
  store: Pick<Store, "box" | "now">,
  deviceId: number,
  creds: AuthenticationCreds,
): Statement {
  // It only ever grows, and all that counts is whether it is empty.
  if (creds.processedHistoryMessages.length > KEPT_HISTORY_MARKS)
    creds.processedHistoryMessages = creds.processedHistoryMessages.slice(-KEPT_HISTORY_MARKS);
  const text = JSON.stringify(creds, baileys.BufferJSON.replacer);
  return {
    sql: `insert into wa_creds (device_id, value, updated_at) values (?, ?, ?)
      on conflict (device_id) do update set value = excluded.value, updated_at = excluded.updated_at`,
    args: [deviceId, store.box.seal(text, credsContext(deviceId)), store.now()],
  };
}
