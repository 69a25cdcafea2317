import type { Row } from "@libsql/client";
import type { Statement, Store } from "../store/store.ts";
import type { LinkState } from "./link.ts";

/** One number in one account, as it is held in memory. Times are Unix milliseconds. */
export interface DeviceRecord {
  readonly id: number;
  readonly accountId: string;
  /** Digits. */
  readonly number: string;
  state: LinkState;
  since: number;
  lid: string | null;
  name: string | null;
  platform: string | null;
  lastIn: number | null;
  lastOut: number | null;
  lastClose: { code: number; reason: string; at: number } | null;
  /** A number that scanned the QR and is not this one; told once. */
  wrongNumber: string | null;
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
} as const;

export type DeviceChange = Partial<Pick<DeviceRecord, keyof typeof COLUMNS>>;

export async function readDevices(store: Store): Promise<DeviceRecord[]> {
  const rows = await store.rows("select * from devices order by id", []);
  return rows.map(toDevice);
}

/** @returns null when the account has this number already */
export async function insertDevice(
  store: Store,
  accountId: string,
  number: string,
): Promise<DeviceRecord | null> {
  const now = store.now();
  const [result] = await store.writer.commit([
    {
      sql: `insert into devices (account_id, number, state, since, created_at) values (?, ?, 'unlinked', ?, ?)
        on conflict (account_id, number) do nothing returning *`,
      args: [accountId, number, now, now],
      recover: {
        sql: "select * from devices where account_id = ? and number = ? and created_at = ?",
        args: [accountId, number, now],
      },
    },
  ]);
  const row = result?.rows[0];
  return row === undefined ? null : toDevice(row);
}

export function updateStatement(deviceId: number, change: DeviceChange): Statement {
  const fields = Object.keys(change) as (keyof typeof COLUMNS)[];
  const value = (field: keyof typeof COLUMNS): string | number | null =>
    field === "lastClose" ? toJson(change.lastClose) : (change[field] ?? null);
  return {
    sql: `update devices set ${fields.map((field) => `${COLUMNS[field]} = ?`).join(", ")} where id = ?`,
    args: [...fields.map(value), deviceId],
  };
}

function toDevice(row: Row): DeviceRecord {
  return {
    id: Number(row.id),
    accountId: String(row.account_id),
    number: String(row.number),
    state: String(row.state) as LinkState,
    since: Number(row.since),
    lid: textOf(row.lid),
    name: textOf(row.name),
    platform: textOf(row.platform),
    lastIn: numberOf(row.last_in),
    lastOut: numberOf(row.last_out),
    lastClose: typeof row.last_close === "string" ? JSON.parse(row.last_close) : null,
    wrongNumber: textOf(row.wrong_number),
  };
}

const toJson = (value: object | null | undefined): string | null => (value ? JSON.stringify(value) : null);
const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
const numberOf = (value: unknown): number | null => (value === null ? null : Number(value));
