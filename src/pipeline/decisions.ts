import type { Row } from "@libsql/client";
import { GatewayError } from "../model/errors.ts";
import type { TrailEntry } from "../model/answerer.ts";
import type { Store } from "../store/store.ts";

/** What was decided about one incoming message, and why. */
export interface StoredDecision {
  /** WhatsApp's id of the message; of a bot's timer `timer:<number>`. */
  messageId: string;
  /** As `number` of a send takes it. */
  chat: string;
  /** Of the message; `timer` for a bot's timer. */
  type: string;
  /** `bot:<id>`, `webhook`, or null when nobody answered. */
  by: string | null;
  route: string | null;
  guard: string | null;
  trail: TrailEntry[];
  /** Unix milliseconds. */
  at: number;
}

export interface DecisionFilter {
  deviceId: number;
  /** WhatsApp's id of the message. */
  message?: string;
  /** Addresses of chats. */
  chats?: string[];
  limit: number;
  /** Id of a message, or an ISO time: only older ones. */
  before?: string;
}

export interface Decisions {
  /**
   * Newest first. `total` counts what the filter matches, without `limit` and `before`.
   * @throws {GatewayError} INVALID_PARAMETERS when `before` is neither a message's id nor a time
   */
  list(filter: DecisionFilter): Promise<{ total: number; decisions: StoredDecision[] }>;
}

// A chat may have been known by its LID when the decision was made. Status broadcasts never leave the gateway.
const MATCHES = `d.device_id = ?1 AND d.chat <> 'status@broadcast' AND (?2 IS NULL OR d.wa_id = ?2) AND (?3 IS NULL
OR d.chat IN (SELECT value FROM json_each(?3)) OR d.chat IN (SELECT lid_user || '@lid' FROM lid_map
WHERE device_id = ?1 AND pn_user || '@s.whatsapp.net' IN (SELECT value FROM json_each(?3))))`;
const COUNT = `SELECT count(*) AS n FROM decisions d WHERE ${MATCHES}`;
const LIST = `SELECT d.*, i.type FROM decisions d LEFT JOIN inbox i ON i.id = d.inbox_id
WHERE ${MATCHES} AND (d.at, d.inbox_id) < (?4, ?5) ORDER BY d.at DESC, d.inbox_id DESC LIMIT ?6`;
const POSITION = "SELECT at, inbox_id FROM decisions WHERE device_id = ? AND wa_id = ? ORDER BY at LIMIT 1";

export function createDecisions({ rows }: Pick<Store, "rows">): Decisions {
  async function positionOf(deviceId: number, before: string): Promise<[at: number, inboxId: number]> {
    const [row] = await rows(POSITION, [deviceId, before]);
    if (row !== undefined) return [Number(row.at), Number(row.inbox_id)];
    const time = /^\d{4}-\d{2}-\d{2}/.test(before) ? Date.parse(before) : Number.NaN;
    if (!Number.isNaN(time)) return [time, 0];
    const fields = { before: ["Give the id of a message, or an ISO 8601 time."] };
    throw new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields });
  }

  return {
    async list({ deviceId, message = null, chats, limit, before }) {
      const wanted = [deviceId, message, chats === undefined ? null : JSON.stringify(chats)];
      const [count] = await rows(COUNT, wanted);
      const [at, inboxId] =
        before === undefined ? [Number.MAX_SAFE_INTEGER, 0] : await positionOf(deviceId, before);
      const found = await rows(LIST, [...wanted, at, inboxId, limit]);
      return { total: Number(count?.n ?? 0), decisions: found.map(decisionOf) };
    },
  };
}

function decisionOf(row: Row): StoredDecision {
  const text = (column: string): string | null => (row[column] == null ? null : String(row[column]));
  return {
    messageId: String(row.wa_id),
    chat: String(row.chat).replace(/@s\.whatsapp\.net$/, ""),
    type: text("type") ?? "unknown",
    by: text("by"),
    route: text("route"),
    guard: text("guard"),
    trail: JSON.parse(String(row.trail)) as TrailEntry[],
    at: Number(row.at),
  };
}
