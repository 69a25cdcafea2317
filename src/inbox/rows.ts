import { firstImportedId, IMPORTED_IN_A_SECOND, type Incoming } from "../model/messages.ts";
import type { Arguments, Statement, Store } from "../store/store.ts";
import { sealContext } from "./reader.ts";

/** What stands in the columns of a row, in the order of {@link COLUMNS}, and behind it what tells the message: `?10` to `?13`. */
const COLUMNS = "device_id, chat, sender, wa_id, from_me, type, timestamp, received_at, body, target_id";
const VALUES = "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?14";

// What arrives for a number that was erased meanwhile is nobody's any more: nothing would ever delete it.
const IS_SOMEBODYS = "EXISTS (SELECT 1 FROM devices WHERE id = ?1)";
// The database decides what is new, not a lookup before: two connections may hand in the same message at once. Whoever
// was known by a LID alone when the message first came may be known by number now; a person may have had several LIDs. All
// of it is asked of rows with this id only.
const oneOf = (column: string, ids: string, digits: string): string =>
  `(${column} IN (${ids}) OR ${column} IN (SELECT lid_user || '@lid' FROM lid_map WHERE device_id = ?1 AND pn_user = ${digits}))`;
const SAME = `device_id = ?1 AND wa_id = ?4
AND ${oneOf("chat", "?2, ?10", "?12")} AND ${oneOf("sender", "?3, ?11", "?13")}`;
const UNLESS_KNOWN = "ON CONFLICT (device_id, chat, sender, wa_id) DO NOTHING";

const INSERT = `INSERT INTO inbox (${COLUMNS})
SELECT ${VALUES} WHERE ${IS_SOMEBODYS} AND NOT EXISTS (SELECT 1 FROM inbox WHERE ${SAME})
${UNLESS_KNOWN} RETURNING id`;
// The row that an insert made: what was there already came at another time.
export const INSERTED = `SELECT id FROM inbox WHERE device_id = ? AND chat = ? AND sender = ? AND wa_id = ? AND received_at = ?
AND state = 'pending'`;

// What the gateway itself has sent is in the outbox.
const IMPORT = `INSERT INTO inbox (id, state, ${COLUMNS})
SELECT coalesce((SELECT max(id) FROM inbox WHERE id BETWEEN ?15 AND ?16), ?15 - 1) + 1, 'done', ${VALUES}
WHERE ${IS_SOMEBODYS} AND NOT EXISTS (SELECT 1 FROM inbox WHERE ${SAME})
AND NOT EXISTS (SELECT 1 FROM outbox WHERE device_id = ?1 AND wa_id = ?4)
AND NOT EXISTS (SELECT 1 FROM inbox WHERE id = ?16) ${UNLESS_KNOWN}`;
const GIVE_WAY = `DELETE FROM inbox WHERE ${SAME} AND id < 0`;

/** @param receivedAt Unix milliseconds */
function argumentsOf({ box }: Store, deviceId: number, message: Incoming, receivedAt: number): Arguments {
  const { chat, chatKey, sender, lid, id, fromMe, type, timestamp } = message;
  const body = box.sealJson(message, sealContext(deviceId, id));
  // As timers of bots: of the gateway's own, and in no list of messages.
  const listedAs = message.handsBack ? "timer" : type;
  const row = [deviceId, chatKey, sender, id, fromMe ? 1 : 0, listedAs, timestamp, receivedAt, body];
  return [...row, chat, lid, numberIn(chatKey), fromMe ? null : numberIn(sender), changed(message)];
}

/** Stores a message that has arrived, unless it is there already. */
export function arrival(store: Store, deviceId: number, message: Incoming): Statement {
  const now = store.now();
  const { chatKey, sender, id } = message;
  return {
    sql: INSERT,
    args: argumentsOf(store, deviceId, message, now),
    recover: { sql: INSERTED, args: [deviceId, chatKey, sender, id, now] },
  };
}

/** Stores a message of the time before the number was linked, unless it is there already, or was sent from here. */
export function importation(store: Store, deviceId: number, message: Incoming): Statement {
  const first = firstImportedId(message.timestamp);
  const args = argumentsOf(store, deviceId, message, message.timestamp * 1000);
  return { sql: IMPORT, args: [...args, first, first + IMPORTED_IN_A_SECOND - 1] };
}

/** What arrives is no history: a row of it that was imported makes room. The statement of its arrival stands behind this one. */
export const givingWay = ({ args }: Pick<Statement, "args">): Statement => ({
  sql: GIVE_WAY,
  args: args.slice(0, -1),
});

/** The message that is edited or revoked, whose record says so from now on. */
function changed({ type, targetId }: Incoming): string | null {
  return type === "edit" || type === "revoke" ? targetId : null;
}

/** Digits of a number's id, null for every other. */
function numberIn(id: string): string | null {
  return id.endsWith("@s.whatsapp.net") ? id.slice(0, id.indexOf("@")) : null;
}
