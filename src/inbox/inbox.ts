import { devices, inbox } from "../../drizzle/schema.ts";
import type { Incoming } from "../model/messages.ts";
import type { Intake } from "../store/write/intake.ts";
import { defineQuery } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import { createInboxReader, sealContext, type InboxReader } from "./reader.ts";
import { arrival, givingWay, importation, INSERTED } from "./rows.ts";

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

/** What has arrived, until retention removes it. */
export interface Inbox extends InboxReader {
  /**
   * What storing messages takes (T1). What the inbox has already is left out.
   *
   * @param onRecorded told after the commit of the new ones, in the order given
   */
  intake(deviceId: number, messages: Incoming[], onRecorded: (recorded: RecordedMessage[]) => void): Intake;
  /**
   * Stores messages of the time before the number was linked: nobody decides about them, and nobody is told. What is there
   * already stays as it is.
   *
   * @throws StorageUnavailable nothing was stored
   */
  importMessages(deviceId: number, messages: Incoming[]): Promise<void>;
  /**
   * Turns a timer of a bot into a message that waits for its decision, in the commit that removes the timer.
   *
   * @returns the row's id, or null when the timer was cancelled meanwhile
   */
  recordTimer(timerId: number, deviceId: number, message: Incoming): Promise<number | null>;
  /**
   * What of a number has no decision, oldest first, and the newest id that was looked at: rows above it came later.
   */
  pending(deviceId: number): Promise<{ messages: PendingMessage[]; upTo: number }>;
  /** For the commit of the decision: the row is not pending any more. */
  done(inboxId: number): Statement;
}

const INSERT_TIMER = `INSERT INTO inbox (device_id, chat, sender, wa_id, from_me, type, timestamp, received_at, body)
SELECT ?, ?, ?, ?, 0, 'timer', ?, ?, ? WHERE EXISTS (SELECT 1 FROM bot_timers WHERE id = ?)
ON CONFLICT (device_id, chat, sender, wa_id) DO NOTHING RETURNING id`;
const DONE = "UPDATE inbox SET state = 'done' WHERE id = ? AND state = 'pending'";
// A chat whose number became known since is one with what comes now.
const PENDING = defineQuery(
  `SELECT i.id, i.device_id, coalesce((SELECT pn_user || '@s.whatsapp.net' FROM lid_map m
  WHERE m.device_id = i.device_id AND m.lid_user = replace(i.chat, '@lid', '') AND i.chat LIKE '%@lid'), i.chat) AS chatKey,
  d.number FROM inbox i JOIN devices d ON d.id = i.device_id
  WHERE i.state = 'pending' AND i.device_id = ? AND i.id > ? AND i.id <= ? ORDER BY i.id LIMIT ?`,
  { inboxId: inbox.id, deviceId: inbox.deviceId, chatKey: inbox.chat, ownNumber: devices.number },
);
const NEWEST = defineQuery("SELECT coalesce(max(id), 0) AS id FROM inbox", { id: inbox.id });

/** New messages are in the inbox; `known` others were there already. */
export interface ReceivedEvent {
  type: "received";
  messages: readonly RecordedMessage[];
  known: number;
}

/**
 * @param observe told after each commit
 * @param hasImported whether some of what arrives may have been imported already. Default: nothing has
 */
export function createInbox(
  store: Store,
  observe?: (event: ReceivedEvent) => void,
  hasImported = false,
): Inbox {
  const { box, writer } = store;

  return {
    ...createInboxReader(store),

    intake(deviceId, messages, recordedNow) {
      const arrivals = messages.map((message) => arrival(store, deviceId, message));
      const before = hasImported ? arrivals.map(givingWay) : [];
      return {
        statements: [...before, ...arrivals],
        committed(all) {
          const results = all.slice(before.length);
          const fresh: RecordedMessage[] = [];
          for (const [index, message] of messages.entries()) {
            const row = results[index]!.rows[0];
            if (row !== undefined) fresh.push({ inboxId: Number(row.id), deviceId, message });
          }
          observe?.({ type: "received", messages: fresh, known: messages.length - fresh.length });
          recordedNow(fresh);
        },
      };
    },

    async importMessages(deviceId, messages) {
      const statements = messages.map((message) => importation(store, deviceId, message));
      await writer.commit(statements, { owning: deviceId });
    },

    async recordTimer(timerId, deviceId, message) {
      const { chatKey, sender, id, timestamp } = message;
      const now = store.now();
      const body = box.sealJson(message, sealContext(deviceId, id));
      const args = [deviceId, chatKey, sender, id, timestamp, now, body, timerId];
      const recover = { sql: INSERTED, args: [deviceId, chatKey, sender, id, now] };
      const statements = [
        { sql: INSERT_TIMER, args, recover },
        { sql: "DELETE FROM bot_timers WHERE id = ?", args: [timerId] },
      ];
      const [inserted] = await writer.commit(statements, { owning: deviceId });
      const row = inserted!.rows[0];
      return row === undefined ? null : Number(row.id);
    },

    async pending(deviceId) {
      const newest = await store.readOne(NEWEST);
      const upTo = newest!.id;
      const messages: PendingMessage[] = [];
      for await (const page of store.pages(PENDING, (last) => [deviceId, last?.inboxId ?? 0, upTo]))
        messages.push(...page);
      return { messages, upTo };
    },

    done: (inboxId) => ({ sql: DONE, args: [inboxId] }),
  };
}
