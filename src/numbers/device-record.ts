import { devices } from "../../drizzle/schema.ts";
import { defineQuery, text } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import type { NewChats, ReachoutLock } from "../whatsapp/port.ts";
import type { LastClose, LinkState } from "./link.ts";
import { keptProxy, type KeptProxy } from "./proxy.ts";

/** One number in one account, as it is held in memory. Times are Unix milliseconds. */
export interface DeviceRecord {
  readonly id: number;
  readonly accountId: string;
  /** Digits. */
  readonly number: string;
  /** When it was registered, Unix milliseconds. */
  readonly createdAt: number;
  state: LinkState;
  since: number;
  lid: string | null;
  name: string | null;
  platform: string | null;
  lastIn: number | null;
  lastOut: number | null;
  lastClose: LastClose | null;
  /** A number that scanned the QR and is not this one; told once. */
  wrongNumber: string | null;
  /** When a phone linked it, in this run: who asks for it asks the table. */
  linkedAt?: number;
  /** The lock on first contacts, as the outbox knows it; it may have ended by itself. In memory only, like what follows. */
  reachout?: ReachoutLock | null;
  /** How many chats may be begun, as WhatsApp has said since the start; absent while it has not. */
  newChats?: NewChats;
  /** How many stanzas WhatsApp still holds back; null or absent: it has not said, or holds none. In memory alone. */
  waiting?: number | null;
  /** `reject`: the phone does not ring. */
  calls: "ignore" | "reject";
  /** What those are told whose call was rejected; null: nothing. */
  callsText: string | null;
  /** What its connections go through; null: nothing. */
  proxy: KeptProxy | null;
}

/** Fields that change, and their columns. */
const COLUMNS = {
  state: "state",
  since: "since",
  lid: "lid",
  name: "name",
  platform: "platform",
  lastIn: "last_in",
  lastOut: "last_out",
  lastClose: "last_close",
  wrongNumber: "wrong_number",
  linkedAt: "linked_at",
  calls: "calls",
  callsText: "calls_text",
  proxy: "proxy",
} as const;

/** Fields of a record that change. */
export type DeviceChange = Partial<Pick<DeviceRecord, keyof typeof COLUMNS>>;

const SHAPE = {
  id: devices.id,
  accountId: devices.accountId,
  number: devices.number,
  createdAt: devices.createdAt,
  state: text<LinkState>(),
  since: devices.since,
  lid: devices.lid,
  name: devices.name,
  platform: devices.platform,
  lastIn: devices.lastIn,
  lastOut: devices.lastOut,
  lastClose: devices.lastClose,
  wrongNumber: devices.wrongNumber,
  calls: devices.calls,
  callsText: devices.callsText,
  proxy: devices.proxy,
};
const FIELDS =
  "id, account_id, number, created_at, state, since, lid, name, platform, last_in, last_out, last_close, wrong_number, calls, calls_text, proxy";
const BEHIND = defineQuery(`select ${FIELDS} from devices where id > ? order by id limit ?`, SHAPE);
const SOME = defineQuery(
  `select ${FIELDS} from devices where id in (select value from json_each(?)) order by id`,
  SHAPE,
);
const PLACE = defineQuery(`select ${FIELDS} from devices where account_id = ? and number = ?`, SHAPE);
const ROWS_AT_ONCE = 1_000;
// In the statement that inserts it: two processes may be asked at once.
const INSERT = `insert into devices (account_id, number, state, since, created_at)
  select ?1, ?2, 'unlinked', ?3, ?3 where ?4 is null or (select count(*) from devices where account_id = ?1) < ?4
  on conflict (account_id, number) do nothing returning id`;
const INSERTED = "select id from devices where account_id = ? and number = ? and created_at = ?";

type Opening = Pick<Store, "box">;
type DeviceRow = Omit<DeviceRecord, "proxy"> & { proxy: Buffer | null };

/** Numbers that were registered after this one, oldest first. */
export async function* newDevices(
  { pages, box }: Pick<Store, "pages"> & Opening,
  after: number,
): AsyncGenerator<DeviceRecord[], void, undefined> {
  for await (const page of pages(BEHIND, (last) => [last?.id ?? after], ROWS_AT_ONCE))
    yield page.map((row) => fromRow(box, row));
}

/** Every number of every account, oldest first. */
export const readDevices = (
  store: Pick<Store, "pages"> & Opening,
): AsyncGenerator<DeviceRecord[], void, undefined> => newDevices(store, 0);

/** Those of them that are there. */
export async function readSome(
  store: Pick<Store, "read"> & Opening,
  ids: readonly number[],
): Promise<DeviceRecord[]> {
  if (ids.length === 0) return [];
  return (await store.read(SOME, [JSON.stringify(ids)])).map((row) => fromRow(store.box, row));
}

/** The number of an account; null when there is none. */
export async function readPlace(
  store: Pick<Store, "readOne"> & Opening,
  accountId: string,
  number: string,
): Promise<DeviceRecord | null> {
  const row = await store.readOne(PLACE, [accountId, number]);
  return row && fromRow(store.box, row);
}

const fromRow = (box: Store["box"], { proxy, ...row }: DeviceRow): DeviceRecord => ({
  ...row,
  proxy: proxy && keptProxy(box, row.id, proxy),
});

/**
 * Registers a number, or finds it.
 *
 * @param limit how many the account may have; null is no limit
 * @param told  for the same commit
 * @returns the record, and whether it is new; null when the account may have no more
 */
export async function insertDevice(
  store: Pick<Store, "readOne" | "writer" | "now" | "box">,
  { accountId, number, limit }: { accountId: string; number: string; limit: number | null },
  told: Statement[],
): Promise<{ record: DeviceRecord; isNew: boolean } | null> {
  const now = store.now();
  const recover = { sql: INSERTED, args: [accountId, number, now] };
  const insert = { sql: INSERT, args: [accountId, number, now, limit], recover };
  const [result] = await store.writer.commit([insert, ...told]);
  const record = await readPlace(store, accountId, number);
  return record && { record, isNew: result!.rows.length > 0 };
}

/** Stores some fields of a record. */
export function updateStatement(deviceId: number, change: DeviceChange): Statement {
  const fields = Object.keys(change) as (keyof typeof COLUMNS)[];
  const value = (field: keyof typeof COLUMNS): Statement["args"][number] => {
    if (field === "lastClose") return toJson(change.lastClose);
    return field === "proxy" ? (change.proxy?.sealed ?? null) : (change[field] ?? null);
  };
  return {
    sql: `update devices set ${fields.map((field) => `${COLUMNS[field]} = ?`).join(", ")} where id = ?`,
    args: [...fields.map(value), deviceId],
  };
}

const toJson = (value: object | null | undefined): string | null => (value ? JSON.stringify(value) : null);
