import type { AuthenticationCreds, AuthenticationState, SignalDataTypeMap } from "@whiskeysockets/baileys";
import { waCreds } from "../../../drizzle/schema.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import { defineQuery } from "../../store/query.ts";
import type { Statement, Store } from "../../store/store.ts";
import type { KeyChanges } from "./key-cache.ts";
import { baileys } from "../baileys.ts";
import { keysGoWithHolders } from "./own-sender-keys.ts";
import { eraseKeys, keyStatements, readKeys, readLidPairs } from "./key-rows.ts";
import { TOKEN_LIST, withoutTokenList } from "./token-rows.ts";
import { createKeyWrites, credsContext, type AuthStateOptions, type DataSet } from "./key-writes.ts";

const LID_MAPPING = "lid-mapping";

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
  const writes = createKeyWrites(options, creds);
  return {
    creds,
    keys: {
      get: <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) =>
        readThrough(options, type, type === "tctoken" ? ids.filter((id) => id !== TOKEN_LIST) : ids).catch(
          (error: unknown) => {
            // Without its session a message looks undecryptable, and its sender would be asked for it in vain.
            if (error instanceof StorageUnavailable) onWriteFailed(error);
            throw error;
          },
        ) as Promise<Record<string, SignalDataTypeMap[T]>>,
      set: (data) => writes.keys(withoutTokenList(keysGoWithHolders(data, creds)) as DataSet),
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

async function readThrough(
  options: AuthStateOptions,
  type: string,
  ids: string[],
): Promise<Record<string, unknown>> {
  const { store, deviceId, cache } = options;
  const reading = cache.read(type, ids);
  const { found, missing } = reading;
  if (missing.length === 0) return found;
  const rows =
    type === LID_MAPPING
      ? await readLidPairs(store, deviceId, missing)
      : await readKeys(store, deviceId, type, missing);
  const filled = cache.fill(type, reading, rows);
  const again = filled.overtaken.length > 0 ? await readThrough(options, type, filled.overtaken) : {};
  return Object.assign(found, filled.found, again);
}
