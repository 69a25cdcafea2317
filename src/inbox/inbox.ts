import { devices, inbox } from "../../drizzle/schema.ts";
import type { Incoming, TextDraft } from "../model/messages.ts";
import type { Intake } from "../store/intake.ts";
import { defineQuery } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";

/** An incoming message with the row that holds it. */
export interface RecordedMessage {
  inboxId: number;
  deviceId: number;
  message: Incoming;
}

/** A message that has no decision yet, without its content. */
export interface PendingMessage {
  inboxId: number;
  deviceId: number;
  /** The linked number itself, digits. */
  ownNumber: string;
  chatKey: string;
}

export interface Inbox {
  /**
   * What storing messages takes (T1). What the inbox has already is left out.
   *
   * @param onRecorded told after the commit of the new ones, in the order given
   */
  intake(deviceId: number, messages: Incoming[], onRecorded: (recorded: RecordedMessage[]) => void): Intake;
  /**
   * Turns a timer of a bot into a message that waits for its decision, in the commit that removes the timer.
   *
   * @returns the row's id, or null when the timer was cancelled meanwhile
   */
  recordTimer(timerId: number, deviceId: number, message: Incoming): Promise<number | null>;
  /** Everything without a decision, oldest first, and the newest id that was looked at: rows above it came later. */
  pending(): Promise<{ messages: PendingMessage[]; upTo: number }>;
  /** The message of a row, or null when the row is gone. */
  load(inboxId: number): Promise<Incoming | null>;
  /** For the commit of the decision: the row is not pending any more. */
  done(inboxId: number): Statement;
  /** What quoting a message takes, or null when this chat has no message of that id. */
  findQuote(deviceId: number, chatKey: string, waId: string): Promise<TextDraft["quote"] | null>;
  /** The message of that id in this chat, or null. */
  find(deviceId: number, chatKey: string, waId: string): Promise<Incoming | null>;
}

// What arrives for a number that was erased meanwhile is nobody's any more: nothing would ever delete it.
// The database decides what is new, not a lookup before: two connections may hand in the same message at once. Whoever
// was known by a LID alone when the message first came may be known by number now: the unique index has both ids of both.
const LID_OF = (digits: string): string =>
  `(SELECT lid_user || '@lid' FROM lid_map WHERE device_id = ?1 AND pn_user = ${digits})`;
const INSERT = `INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, timestamp, received_at, body)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE EXISTS (SELECT 1 FROM devices WHERE id = ?1)
AND NOT EXISTS (SELECT 1 FROM inbox WHERE device_id = ?1 AND wa_id = ?4
AND chat IN (?2, ?10, ${LID_OF("?12")}) AND sender IN (?3, ?11, ${LID_OF("?13")}))
ON CONFLICT (device_id, chat, sender, wa_id) DO NOTHING RETURNING id`;
const INSERT_TIMER = `INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, timestamp, received_at, body)
SELECT ?, ?, ?, ?, 0, 'timer', ?, ?, ? WHERE EXISTS (SELECT 1 FROM bot_timers WHERE id = ?)
ON CONFLICT (device_id, chat, sender, wa_id) DO NOTHING RETURNING id`;
const DONE = "UPDATE inbox SET state = 'done' WHERE id = ? AND state = 'pending'";
// A chat whose number became known since is one with what comes now.
const PENDING = defineQuery(
  `SELECT i.id, i.device_id, coalesce((SELECT pn_user || '@s.whatsapp.net' FROM lid_map m
  WHERE m.device_id = i.device_id AND m.lid_user = replace(i.chat, '@lid', '') AND i.chat LIKE '%@lid'), i.chat) AS chatKey,
  d.number FROM inbox i JOIN devices d ON d.id = i.device_id
  WHERE i.state = 'pending' AND i.id > ? AND i.id <= ? ORDER BY i.id LIMIT ?`,
  { inboxId: inbox.id, deviceId: inbox.deviceId, chatKey: inbox.chat, ownNumber: devices.number },
);
const NEWEST = defineQuery("SELECT coalesce(max(id), 0) AS id FROM inbox", { id: inbox.id });
const SEALED = { deviceId: inbox.deviceId, waId: inbox.waId, body: inbox.body };
const LOAD = defineQuery("SELECT device_id, wa_id, body FROM inbox WHERE id = ?", SEALED);
const FIND = defineQuery(
  "SELECT device_id, wa_id, body FROM inbox WHERE device_id = ? AND wa_id = ? AND chat = ? LIMIT 1",
  SEALED,
);

/** @param onRecorded told after each commit: the new messages, and how many others were there already */
export function createInbox(
  store: Store,
  onRecorded?: (recorded: RecordedMessage[], known: number) => void,
): Inbox {
  const { box, writer } = store;

  function insert(deviceId: number, message: Incoming): Statement {
    const { chat, chatKey, sender, lid, id, fromMe, type, timestamp } = message;
    const body = box.sealJson(message, sealContext(deviceId, id));
    const row = [deviceId, chatKey, sender, id, fromMe ? 1 : 0, type, timestamp, store.now(), body];
    return { sql: INSERT, args: [...row, chat, lid, numberIn(chatKey), fromMe ? null : numberIn(sender)] };
  }

  function open({ deviceId, waId, body }: { deviceId: number; waId: string; body: Buffer }): Incoming {
    return box.openJson<Incoming>(body, sealContext(deviceId, waId));
  }

  async function find(deviceId: number, chatKey: string, waId: string): Promise<Incoming | null> {
    const [row] = await store.read(FIND, [deviceId, waId, chatKey]);
    return row === undefined ? null : open(row);
  }

  return {
    intake(deviceId, messages, recordedNow) {
      return {
        statements: messages.map((message) => insert(deviceId, message)),
        committed(results) {
          const fresh: RecordedMessage[] = [];
          for (const [index, message] of messages.entries()) {
            const row = results[index]!.rows[0];
            if (row !== undefined) fresh.push({ inboxId: Number(row.id), deviceId, message });
          }
          onRecorded?.(fresh, messages.length - fresh.length);
          recordedNow(fresh);
        },
      };
    },

    async recordTimer(timerId, deviceId, message) {
      const { chatKey, sender, id, timestamp } = message;
      const body = box.sealJson(message, sealContext(deviceId, id));
      const args = [deviceId, chatKey, sender, id, timestamp, store.now(), body, timerId];
      const [inserted] = await writer.commit([
        { sql: INSERT_TIMER, args },
        { sql: "DELETE FROM bot_timers WHERE id = ?", args: [timerId] },
      ]);
      const row = inserted!.rows[0];
      return row === undefined ? null : Number(row.id);
    },

    async pending() {
      const [newest] = await store.read(NEWEST, []);
      const upTo = newest!.id;
      const messages: PendingMessage[] = [];
      for await (const page of store.pages(PENDING, (last) => [last?.inboxId ?? 0, upTo]))
        for (const { inboxId, deviceId, ownNumber, chatKey } of page)
          messages.push({ inboxId, deviceId, ownNumber, chatKey });
      return { messages, upTo };
    },

    async load(inboxId) {
      const [row] = await store.read(LOAD, [inboxId]);
      return row === undefined ? null : open(row);
    },

    done: (inboxId) => ({ sql: DONE, args: [inboxId] }),

    async findQuote(deviceId, chatKey, waId) {
      const message = await find(deviceId, chatKey, waId);
      if (message === null) return null;
      const { id, sender, fromMe, raw } = message;
      return { id, sender, fromMe, raw };
    },

    find,
  };
}

/** Digits of a number's id, null for every other. */
function numberIn(id: string): string | null {
  return id.endsWith("@s.whatsapp.net") ? id.slice(0, id.indexOf("@")) : null;
}

/** Binds a sealed body to its row, whose own id is not known before the insert. */
function sealContext(deviceId: number, waId: string): string {
  return `inbox:${deviceId}:${waId}`;
}
