import type { SentState } from "../model/messages.ts";
import type { Store } from "../store/store.ts";
import type { SendError } from "./rows.ts";

/** A sent message as `GET /messages/{id}` tells of it. Times are milliseconds. */
export interface MessageRecord {
  id: string;
  /** Number that sends it, digits. */
  sender: string;
  /** Destination as `results[].number` showed it. */
  number: string;
  kind: string;
  /** What made it: `api`, `bot:<id>` or `webhook`. */
  origin: string;
  state: SentState;
  history: { state: SentState; at: number }[];
  error: SendError | null;
}

const FIND = `SELECT o.id, o.wa_id, o.number, o.kind, o.origin, o.state, o.error, o.created_at, d.number AS sender
FROM devices d JOIN outbox o ON o.device_id = d.id AND o.wa_id = ? WHERE d.account_id = ? LIMIT 1`;
const HISTORY = "SELECT state, at FROM outbox_history WHERE outbox_id = ? ORDER BY at, rowid";

/** @returns null when the account has no message of this id */
export async function findMessage(
  store: Store,
  accountId: string,
  waId: string,
): Promise<MessageRecord | null> {
  const [row] = await store.rows(FIND, [waId, accountId]);
  if (row === undefined) return null;
  const history = await store.rows(HISTORY, [row.id as number]);
  return {
    id: String(row.wa_id),
    sender: String(row.sender),
    number: String(row.number),
    kind: String(row.kind),
    origin: String(row.origin),
    state: row.state as SentState,
    history: [
      { state: "queued", at: Number(row.created_at) },
      ...history.map(({ state, at }) => ({ state: state as SentState, at: Number(at) })),
    ],
    error: row.error === null ? null : (JSON.parse(String(row.error)) as SendError),
  };
}
