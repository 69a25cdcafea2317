import { decisions, inbox } from "../../drizzle/schema.ts";
import type { TrailEntry } from "../model/answerer.ts";
import { MOST_COUNTED, nextOf, noPlace, readPlace, TOP, totalOf, type Place } from "../model/page.ts";
import { defineQuery, integer, nullable, text } from "../store/query.ts";
import type { Reading } from "../store/store.ts";

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

/** Which decisions of one number are wanted; those newest first. */
export interface DecisionFilter {
  deviceId: number;
  /** WhatsApp's id of the message. */
  message?: string;
  /** Addresses of chats. */
  chats?: string[];
  limit: number;
  /** `next` of the page before, id of a message, or an ISO time: only older ones. */
  before?: string;
}

/** One page of decisions. */
export interface DecisionPage {
  /** What the filter matches, without `limit` and `before`; null when it is more than is worth counting. */
  total: number | null;
  /** `before` of the next page; null at the end. */
  next: string | null;
  /** Newest first. */
  decisions: StoredDecision[];
}

/** Who decided about which message, and why. */
export interface Decisions {
  /** @throws {GatewayError} INVALID_PARAMETERS when `before` is none of what it may be */
  list(filter: DecisionFilter): Promise<DecisionPage>;
}

const PLACE = { at: decisions.at, row: decisions.inboxId };
/** Arguments from the n-th on: the place that rows are older than, and how many are wanted. */
const older = (n: number): string => `(at, inbox_id) < (?${n}, ?${n + 1})`;
const newest = (n: number): string => `ORDER BY at DESC, inbox_id DESC LIMIT ?${n + 2}`;
// Status broadcasts never leave the gateway.
const OF_NUMBER = "FROM decisions WHERE device_id = ?1 AND chat <> 'status@broadcast'";
const IN_CHATS = "FROM json_each(?2) c CROSS JOIN decisions d WHERE";
// Named, because the planner would rather read in the right order through the whole number.
const OF_MESSAGE = OF_NUMBER.replace("decisions", "decisions INDEXED BY decisions_message");
const IN_CHATS_OF_MESSAGE = `${OF_MESSAGE} AND chat IN (SELECT value FROM json_each(?2)) AND wa_id = ?3`;

/** Where the rows of a page stand, and how many there are: a text for each kind of filter, since each has its index. */
const FILTERS = {
  all: filter(`SELECT at, inbox_id AS row ${OF_NUMBER} AND ${older(2)} ${newest(2)}`, OF_NUMBER),
  message: filter(
    `SELECT at, inbox_id AS row ${OF_MESSAGE} AND wa_id = ?2 AND ${older(3)} ${newest(3)}`,
    `${OF_MESSAGE} AND wa_id = ?2`,
  ),
  // Each chat by itself: to sort the rows of several, all that they have would be read.
  chats: filter(
    `SELECT d.at, d.inbox_id AS row ${IN_CHATS} d.inbox_id IN (SELECT inbox_id FROM decisions
      WHERE device_id = ?1 AND chat = c.value AND ${older(3)} ${newest(3)}) ORDER BY d.at DESC, d.inbox_id DESC LIMIT ?5`,
    `${IN_CHATS} d.device_id = ?1 AND d.chat = c.value`,
  ),
  messageInChats: filter(
    `SELECT at, inbox_id AS row ${IN_CHATS_OF_MESSAGE} AND ${older(4)} ${newest(4)}`,
    IN_CHATS_OF_MESSAGE,
  ),
};

const ROWS = defineQuery(
  `SELECT d.wa_id, d.chat, i.type, d."by", d.route, d.guard, d.trail, d.at FROM decisions d
    LEFT JOIN inbox i ON i.id = d.inbox_id WHERE d.inbox_id IN (SELECT value FROM json_each(?))
    ORDER BY d.at DESC, d.inbox_id DESC`,
  {
    messageId: decisions.waId,
    chat: decisions.chat,
    type: nullable(inbox.type),
    by: decisions.by,
    route: decisions.route,
    guard: decisions.guard,
    trail: decisions.trail,
    at: decisions.at,
  },
);
const PLACE_OF = defineQuery(
  "SELECT at, inbox_id AS row FROM decisions WHERE device_id = ? AND wa_id = ? ORDER BY at LIMIT 1",
  PLACE,
);
// A chat may have been known by its LID when the decision was made.
const LIDS = defineQuery(
  `SELECT lid_user || '@lid' AS chat FROM lid_map
    WHERE device_id = ? AND pn_user IN (SELECT value FROM json_each(?))`,
  { chat: text() },
);

/** The record of what was decided, for `GET /devices/{number}/decisions`. */
export function createDecisions(store: Reading): Decisions {
  async function placeOf(deviceId: number, before: string | undefined): Promise<Place> {
    if (before === undefined) return TOP;
    const place = (await store.readOne(PLACE_OF, [deviceId, before])) ?? readPlace(before);
    if (place !== null) return place;
    throw noPlace();
  }

  async function withLids(deviceId: number, chats: string[]): Promise<string> {
    const users = chats.map((chat) => chat.replace(/@s\.whatsapp\.net$/, ""));
    const lids = await store.read(LIDS, [deviceId, JSON.stringify(users)]);
    return JSON.stringify([...new Set([...chats, ...lids.map(({ chat }) => chat)])]);
  }

  return {
    async list({ deviceId, message, chats, limit, before }) {
      const inChats = chats === undefined ? [] : [await withLids(deviceId, chats)];
      const args = [deviceId, ...inChats, ...(message === undefined ? [] : [message])];
      const { places, count } = FILTERS[kindOf(chats, message)];
      const from = await placeOf(deviceId, before);
      const found = await store.read(places, [...args, from.at, from.row, limit + 1]);
      const rows = await store.read(ROWS, [JSON.stringify(found.slice(0, limit).map(({ row }) => row))]);
      const counted = await store.readOne(count, args);
      return { total: totalOf(counted!.n), next: nextOf(found, limit), decisions: rows.map(toDecision) };
    },
  };
}

function filter(places: string, matching: string) {
  const counted = `SELECT count(*) AS n FROM (SELECT 1 ${matching} LIMIT ${MOST_COUNTED + 1})`;
  return { places: defineQuery(places, PLACE), count: defineQuery(counted, { n: integer() }) };
}

function kindOf(chats: string[] | undefined, message: string | undefined): keyof typeof FILTERS {
  if (chats === undefined) return message === undefined ? "all" : "message";
  return message === undefined ? "chats" : "messageInChats";
}

/** As it is shown; the message may be gone already, and its type with it. */
function toDecision({
  chat,
  type,
  ...row
}: StoredDecision | (Omit<StoredDecision, "type"> & { type: null })) {
  return { ...row, chat: chat.replace(/@s\.whatsapp\.net$/, ""), type: type ?? "unknown" };
}
