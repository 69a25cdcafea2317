import type { Logger } from "../log.ts";
import { backoffMs, type Cancel } from "../model/time.ts";
import { NO_NEWS, type News } from "../model/nodes/news.ts";
import type { Statement, Store } from "../store/store.ts";
import { newDevices, readDevices, readPlace, readSome, type DeviceRecord } from "./device-record.ts";
import { NUMBER_CHANGED } from "./questions.ts";

interface RecordsDeps {
  store: Pick<Store, "read" | "readOne" | "pages" | "time" | "box">;
  log: Logger;
  /** Default: no other process has anything to tell. */
  news?: News | undefined;
  /** Its record is changed here and nowhere else. */
  isHere(deviceId: number): boolean;
  /** Another process has registered it. */
  onNew(record: DeviceRecord): void;
  /** Another process has removed it. */
  onGone(record: DeviceRecord): void;
}

/** The records of all numbers of the database, in whichever process they live. */
export interface Records {
  /** Reads them all. Call it before the first request. */
  load(): Promise<void>;
  get(deviceId: number): DeviceRecord | null;
  find(accountId: string, number: string): DeviceRecord | null;
  /** As the row says now, also when another process has registered it and nobody has told yet. @throws StorageUnavailable */
  lookUp(accountId: string, number: string): Promise<DeviceRecord | null>;
  /** Oldest first. */
  list(accountId: string): DeviceRecord[];
  /** Of all accounts, in no order. */
  all(): DeviceRecord[];
  ids(): number[];
  /** Adds a record, or says of one that is there what it says now: whoever holds it sees that. */
  put(record: DeviceRecord): DeviceRecord;
  drop(deviceId: number): void;
  /** Reads these again; what is gone is dropped. @throws StorageUnavailable */
  reread(deviceIds: readonly number[]): Promise<DeviceRecord[]>;
  /** For the commit that changes the record: other processes read it again. */
  told(deviceId: number | null): Statement[];
  stop(): void;
}

/** Rows that are read at once. */
const AT_ONCE = 500;
/** What has changed is read together. */
const COLLECT_MS = 50;

const placeOf = ({ accountId, number }: Pick<DeviceRecord, "accountId" | "number">): string =>
  `${accountId} ${number}`;

/** Held in memory because every request looks one of them up; half a kilobyte each. */
export function createRecords(deps: RecordsDeps): Records {
  const { store, log, news = NO_NEWS } = deps;
  const index = createIndex();
  const rows = createRowReader(deps, index);
  const changed = new Set<number>();
  let planned: Cancel | null = null;
  let reading: Promise<void> = Promise.resolve();
  let failures = 0;

  function plan(ms: number): void {
    planned ??= store.time.after(ms, () => {
      planned = null;
      readChanged();
    });
  }

  /** One after the other: who waits for the last one waits for all. */
  function readChanged(): Promise<void> {
    return (reading = reading.then(readThem));
  }

  async function readThem(): Promise<void> {
    const ids = [...changed].filter((id) => id === 0 || !deps.isHere(id));
    changed.clear();
    try {
      if (ids.includes(0)) await rows.findNew();
      await rows.reread(ids.filter((id) => id !== 0));
      failures = 0;
    } catch (error) {
      for (const id of ids) changed.add(id);
      if (failures++ === 0) log.warn({ err: error }, "could not read changed numbers; retrying");
      plan(backoffMs(failures));
    }
  }

  news.listen(NUMBER_CHANGED, {
    hear(deviceId) {
      changed.add(deviceId ?? 0);
      plan(COLLECT_MS);
    },
    async reread() {
      await rows.findNew();
      await rows.reread(index.ids().filter((id) => !deps.isHere(id)));
    },
    async catchUp() {
      planned?.();
      planned = null;
      await readChanged();
      if (failures > 0) throw new Error("could not read changed numbers");
    },
  });

  return {
    load: rows.load,
    get: index.get,
    find: index.find,
    async lookUp(accountId, number) {
      const row = await readPlace(store, accountId, number);
      if (row === null) return null;
      const isNew = index.get(row.id) === null;
      const record = index.put(row);
      if (isNew) deps.onNew(record);
      return record;
    },
    list: index.list,
    all: index.all,
    ids: index.ids,
    put: index.put,
    drop: index.drop,
    reread: rows.reread,
    told: (deviceId) => news.of(NUMBER_CHANGED, deviceId),
    stop: () => planned?.(),
  };
}

/** Records by each of their names. */
function createIndex() {
  const byId = new Map<number, DeviceRecord>();
  const byPlace = new Map<string, DeviceRecord>();
  const byAccount = new Map<string, Map<number, DeviceRecord>>();
  return {
    get: (deviceId: number): DeviceRecord | null => byId.get(deviceId) ?? null,
    find: (accountId: string, number: string): DeviceRecord | null =>
      byPlace.get(placeOf({ accountId, number })) ?? null,
    list: (accountId: string): DeviceRecord[] =>
      [...(byAccount.get(accountId)?.values() ?? [])].toSorted((a, b) => a.id - b.id),
    all: (): DeviceRecord[] => [...byId.values()],
    ids: (): number[] => [...byId.keys()],
    put(record: DeviceRecord): DeviceRecord {
      const known = byId.get(record.id);
      if (known !== undefined) return Object.assign(known, record);
      byId.set(record.id, record);
      byPlace.set(placeOf(record), record);
      const own = byAccount.get(record.accountId) ?? new Map<number, DeviceRecord>();
      byAccount.set(record.accountId, own.set(record.id, record));
      return record;
    },
    drop(deviceId: number): void {
      const record = byId.get(deviceId);
      if (record === undefined) return;
      byId.delete(deviceId);
      // A number that is registered anew while its former self is being erased has another record in this place.
      if (byPlace.get(placeOf(record)) === record) byPlace.delete(placeOf(record));
      const own = byAccount.get(record.accountId);
      own?.delete(deviceId);
      if (own?.size === 0) byAccount.delete(record.accountId);
    },
  };
}

/** Reads rows into the index, and says who came and who is gone. */
function createRowReader(
  { store, onNew, onGone }: Pick<RecordsDeps, "store" | "onNew" | "onGone">,
  { get, put, drop }: ReturnType<typeof createIndex>,
) {
  /** Ids are given in turn: whatever was registered since lies behind this one. */
  let newest = 0;

  function lose(deviceId: number): void {
    const record = get(deviceId);
    drop(deviceId);
    if (record !== null) onGone(record);
  }

  return {
    async load(): Promise<void> {
      for await (const page of readDevices(store))
        for (const row of page) {
          put(row);
          newest = Math.max(newest, row.id);
        }
    },
    async reread(deviceIds: readonly number[]): Promise<DeviceRecord[]> {
      const found: DeviceRecord[] = [];
      for (let from = 0; from < deviceIds.length; from += AT_ONCE) {
        const some = deviceIds.slice(from, from + AT_ONCE);
        const rows = await readSome(store, some);
        const left = new Set(rows.map(({ id }) => id));
        for (const id of some) if (!left.has(id)) lose(id);
        found.push(...rows.map(put));
      }
      return found;
    },
    async findNew(): Promise<void> {
      for await (const page of newDevices(store, newest))
        for (const row of page) {
          newest = Math.max(newest, row.id);
          if (get(row.id) === null) onNew(put(row));
        }
    },
  };
}
