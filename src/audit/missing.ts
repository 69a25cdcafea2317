import { missingMessages } from "../../drizzle/schema.ts";
import { giveWay } from "../model/give-way.ts";
import type { Incoming } from "../model/messages.ts";
import { defineQuery, text } from "../store/query.ts";
import type { Statement, Store } from "../store/store.ts";
import type { MissingMessage, MissingReason } from "../whatsapp/port.ts";

/** What is done when messages are stored that were missing. */
export interface Found {
  /** For the commit that stores them. */
  statements: Statement[];
  /** After that commit. */
  stored(): void;
}

/** The book of messages that exist and are not here. */
interface MissingBook {
  /** Reads what is open: before the first message, and again when old messages were deleted. */
  load(): Promise<void>;
  /** What the inbox or the journal has is not noted. Rejects when it could not be stored. */
  note(deviceId: number, message: MissingMessage): Promise<void>;
  /** Notes those of some messages that neither inbox, journal nor outbox know, and gives them and what is open already. */
  noteUnknown(deviceId: number, messages: Incoming[]): Promise<Incoming[]>;
  /** Costs nothing for messages that were never missing. */
  found(deviceId: number, messages: Pick<Incoming, "id">[]): Found;
  /** Open ones, newest first. */
  open(deviceId: number, noticedBefore: number, writtenAfter: number): Promise<MissingMessage[]>;
  /** Reads what is open of one number again. */
  openNumber(deviceId: number): Promise<void>;
  forget(deviceId: number): void;
}

const MOST_OPEN = 500;
/** Ids of missing messages that are held in memory for a number; of one with more, each message is looked up instead. */
const MOST_REMEMBERED = 20_000;
const NOTED_AT_ONCE = 100;
const LOADED_AT_ONCE = 1_000;

// The same message may have come under another id of the writer, before it was known to be the same person's.
const oneOf = (column: string, ids: string, digits: string): string =>
  `(${column} in (${ids}) or ${column} in (select lid_user || '@lid' from lid_map where device_id = ?1 and pn_user = ${digits}))`;
const KNOWN = `exists (select 1 from inbox where device_id = ?1 and wa_id = ?4
  and ${oneOf("chat", "?2, ?6", "?11")} and ${oneOf("sender", "?3, ?6, ?7", "?12")})
  or exists (select 1 from journal where device_id = ?1 and content is not null and stanza_id = ?4)`;
const NOTE = `insert into missing_messages
  (device_id, chat, sender, wa_id, from_me, jid, participant, timestamp, reason, noticed_at)
  select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 where not (${KNOWN})`;
const NOTE_WHAT_CAME = `${NOTE} on conflict do nothing returning wa_id`;
const NOTE_WHAT_IS_NAMED = `${NOTE} and not exists (select 1 from outbox where device_id = ?1 and wa_id = ?4)
  on conflict do nothing returning wa_id`;
const RESOLVE = `update missing_messages set resolved_at = ?
  where device_id = ? and wa_id = ? and resolved_at is null`;
const UNRESOLVED = defineQuery(
  `select device_id, wa_id from missing_messages
    where resolved_at is null and (device_id, wa_id) > (?, ?) order by device_id, wa_id limit ?`,
  { deviceId: missingMessages.deviceId, waId: missingMessages.waId },
);
const UNRESOLVED_OF = defineQuery(
  `select wa_id from missing_messages
    where resolved_at is null and device_id = ? and wa_id > ? order by wa_id limit ?`,
  { waId: missingMessages.waId },
);
const OPEN = defineQuery(
  `select chat, sender, wa_id, from_me, jid, participant, timestamp, reason from missing_messages
    where device_id = ? and resolved_at is null and reason in ('undecryptable', 'unavailable')
    and noticed_at < ? and timestamp > ? order by noticed_at desc limit ${MOST_OPEN}`,
  {
    id: missingMessages.waId,
    chat: missingMessages.chat,
    sender: missingMessages.sender,
    fromMe: missingMessages.fromMe,
    jid: missingMessages.jid,
    participant: missingMessages.participant,
    timestamp: missingMessages.timestamp,
    reason: text<MissingReason>(),
  },
);

const behind = (last: { deviceId: number; waId: string } | null): [number, string] => [
  last?.deviceId ?? 0,
  last?.waId ?? "",
];

/** The rows lie in `missing_messages`; ids of what is open are held in memory too. */
export function createMissingBook({ read, pages, writer, now }: Store): MissingBook {
  // Every message that comes is looked up here, so that almost none costs a statement.
  let open = createOpenIds();
  // While it is being read anew: what is noted meanwhile belongs into both.
  let reading: OpenIds | null = null;

  function remember(deviceId: number, waId: string): void {
    open.add(deviceId, waId);
    reading?.add(deviceId, waId);
  }

  function note(sql: string, deviceId: number, message: MissingMessage): Statement {
    const { chat, sender, id, fromMe, jid, participant, timestamp, reason } = message;
    const who = [deviceId, chat, sender, id, fromMe ? 1 : 0, jid, participant];
    return { sql, args: [...who, timestamp, reason, now(), userOf(chat), userOf(sender)] };
  }

  return {
    async load() {
      reading = createOpenIds();
      for await (const page of pages(UNRESOLVED, behind, LOADED_AT_ONCE))
        for (const { deviceId, waId } of page) reading.add(deviceId, waId);
      open = reading;
      reading = null;
    },

    async note(deviceId, message) {
      const [result] = await writer.commit([note(NOTE_WHAT_CAME, deviceId, message)], { owning: deviceId });
      if (result!.rows.length > 0) remember(deviceId, message.id);
    },

    async noteUnknown(deviceId, messages) {
      const unknown = new Set<string>();
      for (let from = 0; from < messages.length; from += NOTED_AT_ONCE, await giveWay()) {
        const some = messages.slice(from, from + NOTED_AT_ONCE);
        const results = await writer.commit(
          some.map((message) => note(NOTE_WHAT_IS_NAMED, deviceId, named(message))),
          { owning: deviceId },
        );
        for (const [index, { id }] of some.entries()) {
          if (results[index]!.rows.length > 0) remember(deviceId, id);
          if (results[index]!.rows.length > 0 || open.mayHave(deviceId, id)) unknown.add(id);
        }
      }
      return messages.filter(({ id }) => unknown.has(id));
    },

    found(deviceId, messages) {
      const found = messages.filter(({ id }) => open.mayHave(deviceId, id));
      return {
        statements: found.map(({ id }) => ({ sql: RESOLVE, args: [now(), deviceId, id] })),
        stored() {
          for (const { id } of found) open.delete(deviceId, id);
        },
      };
    },

    open: (deviceId, noticedBefore, writtenAfter) => read(OPEN, [deviceId, noticedBefore, writtenAfter]),

    async openNumber(deviceId) {
      open.forget(deviceId);
      const after = (last: { waId: string } | null): [number, string] => [deviceId, last?.waId ?? ""];
      for await (const page of pages(UNRESOLVED_OF, after, LOADED_AT_ONCE))
        for (const { waId } of page) remember(deviceId, waId);
    },

    forget: (deviceId) => open.forget(deviceId),
  };
}

/** Ids of messages that are missing, by number. Of a number with very many it says yes to every id. */
interface OpenIds {
  add(deviceId: number, waId: string): void;
  mayHave(deviceId: number, waId: string): boolean;
  delete(deviceId: number, waId: string): void;
  forget(deviceId: number): void;
}

function createOpenIds(): OpenIds {
  const known = new Map<number, Set<string>>();
  const overfull = new Set<number>();
  return {
    add(deviceId, waId) {
      const ids = known.get(deviceId) ?? new Set();
      if (ids.size < MOST_REMEMBERED) known.set(deviceId, ids.add(waId));
      else overfull.add(deviceId);
    },
    mayHave: (deviceId, waId) => overfull.has(deviceId) || (known.get(deviceId)?.has(waId) ?? false),
    delete: (deviceId, waId) => void known.get(deviceId)?.delete(waId),
    forget(deviceId) {
      known.delete(deviceId);
      overfull.delete(deviceId);
    },
  };
}

function named(message: Incoming): MissingMessage {
  const { id, chatKey, sender, fromMe, chat, participant, timestamp } = message;
  return { id, chat: chatKey, sender, fromMe, jid: chat, participant, timestamp, reason: "history" };
}

const userOf = (id: string): string => id.replace(/@.*/s, "");
