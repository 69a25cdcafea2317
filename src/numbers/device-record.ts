import { devices } from "../../drizzle/schema.ts";
import { defineQuery, text } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import type { NewChats, ReachoutLock } from "../whatsapp/port.ts";
import type { LastClose, LinkState } from "./link.ts";

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
  /** The lock on first contacts, as the outbox knows it; it may have ended by itself. In memory only, like what follows. */
  reachout?: ReachoutLock | null;
  /** How many chats may be begun, as WhatsApp has said since the start; absent while it has not. */
  newChats?: NewChats;
  /** `reject`: the phone does not ring. */
  calls: "ignore" | "reject";
  /** What those are told whose call was rejected; null: nothing. */
  callsText: string | null;
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
  calls: "calls",
  callsText: "calls_text",
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
};
const FIELDS =
  "id, account_id, number, created_at, state, since, lid, name, platform, last_in, last_out, last_close, wrong_number, calls, calls_text";
/** All of them: each is held in memory. */
const ALL = defineQuery(`select ${FIELDS} from devices order by id`, SHAPE);
const ONE = defineQuery(`select ${FIELDS} from devices where id = ?`, SHAPE);

/** Every number of every account, oldest first. */
export const readDevices = (store: Pick<Store, "read">): Promise<DeviceRecord[]> => store.read(ALL);

/** @returns null when the account has this number already */
export async function insertDevice(
  store: Pick<Store, "readOne" | "writer" | "now">,
  accountId: string,
  number: string,
): Promise<DeviceRecord | null> {
  const now = store.now();
  const [result] = await store.writer.commit([
    {
      sql: `insert into devices (account_id, number, state, since, created_at) values (?, ?, 'unlinked', ?, ?)
        on conflict (account_id, number) do nothing returning id`,
      args: [accountId, number, now, now],
    },
  ]);
  const row = result?.rows[0];
  return row === undefined ? null : store.readOne(ONE, [Number(row.id)]);
}

/** Stores some fields of a record. */
export function updateStatement(deviceId: number, change: DeviceChange): Statement {
  const fields = Object.keys(change) as (keyof typeof COLUMNS)[];
  const value = (field: keyof typeof COLUMNS): string | number | null =>
    field === "lastClose" ? toJson(change.lastClose) : (change[field] ?? null);
  return {
    sql: `update devices set ${fields.map((field) => `${COLUMNS[field]} = ?`).join(", ")} where id = ?`,
    args: [...fields.map(value), deviceId],
  };
}

const toJson = (value: object | null | undefined): string | null => (value ? JSON.stringify(value) : null);
