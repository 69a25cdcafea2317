import { journal } from "../../../drizzle/schema.ts";
import type { Incoming } from "../../model/messages.ts";
import { DAY_MS } from "../../model/time.ts";
import type { Intake } from "../../store/write/intake.ts";
import { defineQuery, integer } from "../../store/query.ts";
import type { Statement, Store } from "../../store/store.ts";

const SWEPT_AT_ONCE = 1_000;
const READ_AT_ONCE = 100;

/** What the journal keeps of one decrypted ciphertext besides its hash. */
export interface JournalContent {
  /** Rows of version 0.1 only: what the inbox is still to get. */
  message: Incoming | null;
  /** The same, of messages that the owner's phone has sent again. */
  resent?: Incoming[];
  /** The decrypted protobuf of a protocol message, base64: it must survive a redelivery, and be imported when it is history. */
  plain: string | null;
}

interface JournalRow {
  stanzaId: string;
  /** Null: only the hash counts, there is nothing left to do with it. */
  content: JournalContent | null;
}

/** A row to be written, with what belongs into its commit. */
export interface JournalEntry extends JournalRow {
  /** The inbox rows of the messages. */
  intake: Intake;
  /** The database refuses those rows whenever they come: called before the commit is made without them. */
  refused(error: unknown): Promise<void>;
}

/** A row whose messages the inbox has not got. */
export interface OwedMessages {
  hash: string;
  stanzaId: string;
  /** @throws when the row is damaged */
  open(): Incoming[];
}

const FIND = defineQuery("select content from journal where device_id = ? and hash = ?", {
  content: journal.content,
});
/** Before the stanza ids of history: no message has such a one. Below it in order stands nothing else. */
const HISTORY = "history:";
const IS_HISTORY = "stanza_id >= 'history:' and stanza_id < 'history;'";
/** A piece of history that was never stored as a whole: WhatsApp does not keep its file much longer. */
const HISTORY_KEPT_MS = 14 * DAY_MS;

/** @param id of the stanza @returns under which the journal keeps it until all of it is stored */
export const historyId = (id: string): string => HISTORY + id;

const OWED = defineQuery(
  `select rowid as place, hash, stanza_id, content from journal
  where device_id = ? and content is not null and not (${IS_HISTORY}) and rowid > ? order by rowid limit ${READ_AT_ONCE}`,
  { place: integer(), hash: journal.hash, stanzaId: journal.stanzaId, content: journal.content },
);
// One at a time: it may be megabytes.
const NEXT_HISTORY = defineQuery(
  `select rowid as place, hash, content from journal
  where device_id = ? and content is not null and ${IS_HISTORY} and rowid > ? order by rowid limit 1`,
  { place: integer(), hash: journal.hash, content: journal.content },
);

const context = (deviceId: number, hash: string): string => `journal:${deviceId}:${hash}`;

/** Inserts a row; `sealed` is made here so that the text never stands in a statement. */
export function journalInsert(
  store: Store,
  deviceId: number,
  hash: string,
  { stanzaId, content }: JournalRow,
): Statement {
  const sealed = content === null ? null : store.box.sealJson(content, context(deviceId, hash));
  return {
    sql: `insert into journal (device_id, hash, stanza_id, content, created_at) values (?, ?, ?, ?, ?)
      on conflict (device_id, hash) do nothing`,
    args: [deviceId, hash, stanzaId, sealed, store.now()],
  };
}

/** Drops the content and keeps the hash: a redelivery of this ciphertext is recognised for a day. */
export function spendStatement(deviceId: number, hash: string): Statement {
  return {
    sql: "update journal set content = null where device_id = ? and hash = ?",
    args: [deviceId, hash],
  };
}

/**
 * Looks a ciphertext up.
 *
 * @returns null: never decrypted here. `open` gives null when there is nothing left to do with it, and throws when the row
 *          is damaged
 */
export async function findJournalled(
  store: Store,
  deviceId: number,
  hash: string,
): Promise<{ open(): JournalContent | null } | null> {
  const [row] = await store.read(FIND, [deviceId, hash]);
  if (row === undefined) return null;
  return { open: () => (row.content === null ? null : open(store, deviceId, hash, row.content)) };
}

/** Rows with messages that were decrypted and whose inbox row was never committed, oldest first, some at a time. */
export async function* readOwed(store: Store, deviceId: number): AsyncGenerator<OwedMessages[]> {
  for (let after = 0; ;) {
    const rows = await store.read(OWED, [deviceId, after]);
    if (rows.length === 0) return;
    yield rows.map(({ hash, stanzaId, content }) => ({
      hash,
      stanzaId,
      open: () => (content === null ? [] : messagesIn(open(store, deviceId, hash, content))),
    }));
    after = rows.at(-1)!.place;
  }
}

/** A piece of history that is not stored as a whole. */
export interface OwedHistory {
  hash: string;
  /** The encoded protocol message. @throws when the row is damaged */
  open(): Uint8Array;
}

/** Pieces of history that are not stored, oldest first. */
export async function* readHistories(store: Store, deviceId: number): AsyncGenerator<OwedHistory> {
  for (let after = 0; ;) {
    const row = await store.readOne(NEXT_HISTORY, [deviceId, after]);
    if (row === null) return;
    const { hash, content } = row;
    yield { hash, open: () => Buffer.from(open(store, deviceId, hash, content!).plain ?? "", "base64") };
    after = row.place;
  }
}

/** All messages of a row that the inbox gets. */
const messagesIn = ({ message, resent = [] }: JournalContent): Incoming[] =>
  message === null ? resent : [message, ...resent];

/**
 * Deletes hashes older than a day, and the phone's protocol messages of that age; pieces of history that were not imported a
 * while later. Messages stay until they are spent.
 */
export async function sweepJournal(store: Store): Promise<void> {
  while (store.clock.isTrusted()) {
    const old = {
      sql: `delete from journal where rowid in (select rowid from journal
        where created_at < ?1 and (content is null or stanza_id = '' or (${IS_HISTORY} and created_at < ?2))
        limit ${SWEPT_AT_ONCE})`,
      args: [store.now() - DAY_MS, store.now() - HISTORY_KEPT_MS],
    };
    const [result] = await store.writer.commit([old], { owning: null });
    if ((result?.rowsAffected ?? 0) < SWEPT_AT_ONCE) return;
  }
}

function open(store: Store, deviceId: number, hash: string, content: Buffer): JournalContent {
  return store.box.openJson<JournalContent>(content, context(deviceId, hash));
}
