import { SENT_STATES, type SentState } from "../model/messages.ts";
import type { Row } from "@libsql/client";
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

const FIND = `SELECT o.id, o.wa_id, o.number, o.kind, o.origin, o.state, o.error, d.number AS sender,
o.created_at, o.sent_at, o.delivered_at, o.read_at, o.played_at, o.ended_at
FROM devices d JOIN outbox o ON o.device_id = d.id AND o.wa_id = ? WHERE d.account_id = ? LIMIT 1`;
/** What version 0.1 wrote down, at most one row for each state. */
const OLD_HISTORY = "SELECT state, at FROM outbox_history WHERE outbox_id = ?";

/** @returns null when the account has no message of this id */
export async function findMessage(
  store: Store,
  accountId: string,
  waId: string,
): Promise<MessageRecord | null> {
  const [row] = await store.rows(FIND, [waId, accountId]);
  if (row === undefined) return null;
  const old = await store.rows(OLD_HISTORY, [row.id as number]);
  return {
    id: String(row.wa_id),
    sender: String(row.sender),
    number: String(row.number),
    kind: String(row.kind),
    origin: String(row.origin),
    state: row.state as SentState,
    history: historyOf(row, old),
    error: row.error === null ? null : (JSON.parse(String(row.error)) as SendError),
  };
}

/** In the order in which states follow each other; two clocks may have written them, so times only ever go on. */
function historyOf(row: Row, old: Row[]): MessageRecord["history"] {
  const oldTimes = new Map(old.map(({ state, at }) => [String(state), Number(at)]));
  const state = row.state as SentState;
  const ended = state === "failed" || state === "expired" ? [state] : [];
  let latest = Number(row.created_at);
  const history: MessageRecord["history"] = [{ state: "queued", at: latest }];
  for (const reached of [...SENT_STATES.slice(1), ...ended]) {
    const at = row[reached === ended[0] ? "ended_at" : `${reached}_at`] ?? oldTimes.get(reached);
    if (at === undefined) continue;
    latest = Math.max(latest, Number(at));
    history.push({ state: reached, at: latest });
  }
  return history;
}
