import type { ResultSet } from "@libsql/client";
import type {
  AuthenticationCreds,
  AuthenticationState,
  SignalDataSet,
  SignalDataTypeMap,
} from "@whiskeysockets/baileys";
import { waCreds } from "../../../drizzle/schema.ts";
import { failpoint } from "../../model/failpoint.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import { joinIntakes } from "../../store/intake.ts";
import { defineQuery } from "../../store/query.ts";
import type { Statement, Store } from "../../store/store.ts";
import type { CachedKeys, KeyChanges } from "./key-cache.ts";
import { journalInsert, type JournalEntry } from "./journal-rows.ts";
import { baileys } from "../baileys.ts";
import { keysGoWithHolders } from "./own-sender-keys.ts";
import { eraseKeys, keyStatements, lidPairStatements, readKeys, readLidPairs } from "./key-rows.ts";

const LID_MAPPING = "lid-mapping";
const JOURNAL = "journal";
const KEPT_HISTORY_MARKS = 20;

/** Credentials and Signal keys of one number, written through the store's one writer. */
export interface AuthState extends AuthenticationState {
  /** Stores `creds` as they are now, before or together with every later write of keys. Nothing before they are linked. */
  saveCreds(): void;
  /** What is in memory, what is being written included: null is known to be absent, undefined is for the database to say. */
  peek(type: keyof SignalDataTypeMap, id: string): unknown;
  /**
   * Changes of keys for somebody else's commit, which must be given to the writer in this turn of the event loop. Readers
   * see them at once. `committed` or `failed` must be called when it is known.
   */
  stage(changes: KeyChanges): StagedKeys;
  /** Resolves when everything written so far is committed. Rejects when the credentials could not be. */
  flushed(): Promise<void>;
}

/** Changes of keys that readers see already. */
export interface StagedKeys {
  statements: Statement[];
  committed(): void;
  failed(): void;
}

/** A set of changes as Baileys gives it, and the journal entries by hash that the repository adds to a transaction. */
type DataSet = SignalDataSet & { [JOURNAL]?: Record<string, JournalEntry> };

/** What the credentials and keys of one number need. */
export interface AuthStateOptions {
  store: Store;
  deviceId: number;
  /** The number's keys in memory, until they are dropped. */
  cache: CachedKeys;
  /** Called before a failed write, or a read that the database failed, rejects. The connection must close now: nothing after it may be acknowledged. */
  onWriteFailed(error: unknown): void;
}

/**
 * Reads a number's credentials, or makes new ones that stay in memory until the number is linked.
 *
 * Keys: one `IN (…)` per `get` for what is not in memory, one atomic commit per `set`, which resolves after it. A `get`
 * sees every `set` that was called before it. Values are never shared with readers that change them in place.
 */
export async function openAuthState(options: AuthStateOptions): Promise<AuthState> {
  const { store, deviceId, cache, onWriteFailed } = options;
  const known = await readCreds(store, deviceId);
  // A logout that was cut off has left keys of another identity.
  if (known === null) await eraseKeys(store, deviceId);
  const creds = known ?? baileys.initAuthCreds();
  const writes = createWrites(options, creds);
  return {
    creds,
    keys: {
      get: <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) =>
        readThrough(options, type, ids).catch((error: unknown) => {
          // Without its session a message looks undecryptable, and its sender would be asked for it in vain.
          if (error instanceof StorageUnavailable) onWriteFailed(error);
          throw error;
        }) as Promise<Record<string, SignalDataTypeMap[T]>>,
      set: (data) => writes.keys(keysGoWithHolders(data, creds) as DataSet),
    },
    peek: (type, id) => cache.peek(type, id),
    stage(changes) {
      const { encoded, committed, failed } = cache.begin(changes);
      return { statements: keyStatements(store, deviceId, encoded), committed, failed };
    },
    saveCreds: writes.creds,
    flushed: writes.flushed,
  };
}

const CREDS = defineQuery("select value from wa_creds where device_id = ?", { value: waCreds.value });

/** Credentials of a linked number, or null when it has none. */
export async function readCreds(store: Store, deviceId: number): Promise<AuthenticationCreds | null> {
  const row = await store.readOne(CREDS, [deviceId]);
  if (row === null) return null;
  const text = store.box.open(row.value, credsContext(deviceId)).toString("utf8");
  return JSON.parse(text, baileys.BufferJSON.reviver) as AuthenticationCreds;
}

const credsContext = (deviceId: number): string => `wa_creds:${deviceId}`;

function createWrites(
  { store, deviceId, cache, onWriteFailed }: AuthStateOptions,
  creds: AuthenticationCreds,
) {
  let credsChanged = false;
  let last: Promise<unknown> = Promise.resolve();

  async function commit(statements: Statement[]): Promise<void> {
    try {
      await attempt(statements);
    } catch (error) {
      onWriteFailed(error);
      throw error;
    }
  }

  function attempt(statements: Statement[]): Promise<ResultSet[]> {
    const done = store.writer.commit(statements);
    last = done;
    return done;
  }

  /** What was received and cannot be stored for a reason of its own must not keep the number offline for ever. */
  async function commitReceived(received: JournalEntry[], rest: Statement[]): Promise<void> {
    const intake = joinIntakes(...received.map((entry) => entry.intake));
    if (intake.statements.length === 0) return commit(rest);
    try {
      const results = await attempt([...intake.statements, ...rest]);
      intake.committed(results.slice(0, intake.statements.length));
    } catch (error) {
      if (error instanceof StorageUnavailable) {
        onWriteFailed(error);
        throw error;
      }
      for (const entry of received) await entry.refused(error);
      await commit(rest);
    }
  }

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
    async keys(data: DataSet): Promise<void> {
      const { [JOURNAL]: journal, [LID_MAPPING]: pairs, ...keys } = data;
      const written = cache.begin({ ...keys, ...(pairs ? { [LID_MAPPING]: pairs } : {}) });
      const statements = takeCreds();
      const received = Object.entries(journal ?? {});
      for (const [hash, entry] of received) statements.push(journalInsert(store, deviceId, hash, entry));
      if (pairs) statements.push(...lidPairStatements(deviceId, pairs, store.now()));
      statements.push(...keyStatements(store, deviceId, written.encoded));
      if (statements.length === 0) return;
      const bringsPreKeys = Object.values(keys["pre-key"] ?? {}).some((key) => key !== null);
      if (bringsPreKeys) failpoint("before-pre-keys-commit");
      try {
        await commitReceived(
          received.map(([, entry]) => entry),
          statements,
        );
        if (bringsPreKeys) failpoint("after-pre-keys-commit");
        written.committed();
      } catch (error) {
        written.failed();
        throw error;
      }
    },
    async flushed(): Promise<void> {
      if (credsChanged) await commit(takeCreds());
      await last.catch(() => undefined);
    },
  };
}

function credsStatement(store: Store, deviceId: number, creds: AuthenticationCreds): Statement {
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

async function readThrough(
  { store, deviceId, cache }: AuthStateOptions,
  type: string,
  ids: string[],
): Promise<Record<string, unknown>> {
  const { found, missing } = cache.read(type, ids);
  if (missing.length === 0) return found;
  const rows =
    type === LID_MAPPING
      ? await readLidPairs(store, deviceId, missing)
      : await readKeys(store, deviceId, type, missing);
  return Object.assign(found, cache.fill(type, missing, rows));
}
