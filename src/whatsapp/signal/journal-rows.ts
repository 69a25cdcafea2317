import type { Incoming } from "../../model/messages.ts";
import type { Statement, Store } from "../../store/store.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const SWEPT_AT_ONCE = 1_000;

/** What the journal keeps of one decrypted ciphertext until it is spent. */
export interface JournalContent {
  /** What the inbox gets; null for what is no message but must survive a redelivery (the phone's own protocol messages). */
  message: Incoming | null;
  /** Messages that the owner's phone has sent again inside one of those. */
  resent?: Incoming[];
  /** The decrypted protobuf, base64, where `message.raw` does not hold it. */
  plain: string | null;
}

export interface JournalRow {
  stanzaId: string;
  /** Null: only the hash counts, there is nothing left to do with it. */
  content: JournalContent | null;
}

/** All messages of a row that the inbox gets. */
export const messagesIn = ({ message, resent = [] }: JournalContent): Incoming[] =>
  message === null ? resent : [message, ...resent];

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
 * @returns undefined: never decrypted here; null: decrypted and already spent
 */
export async function findJournalled(
  store: Store,
  deviceId: number,
  hash: string,
): Promise<JournalContent | null | undefined> {
  const [row] = await store.rows("select content from journal where device_id = ? and hash = ?", [
    deviceId,
    hash,
  ]);
  if (row === undefined) return undefined;
  if (row.content === null) return null;
  return open(store, deviceId, hash, row.content);
}

/** Messages that were decrypted and whose inbox row was never committed, oldest first. */
export async function readUnspent(
  store: Store,
  deviceId: number,
): Promise<{ hash: string; messages: Incoming[] }[]> {
  const rows = await store.rows(
    "select hash, content from journal where device_id = ? and content is not null order by rowid",
    [deviceId],
  );
  return rows.flatMap((row) => {
    const hash = String(row.hash);
    const messages = messagesIn(open(store, deviceId, hash, row.content));
    return messages.length === 0 ? [] : [{ hash, messages }];
  });
}

/** Deletes hashes older than a day, and the phone's protocol messages of that age. Messages stay until they are spent. */
export async function sweepJournal(store: Store): Promise<void> {
  for (;;) {
    const [result] = await store.writer.commit([
      {
        sql: `delete from journal where rowid in (select rowid from journal
          where created_at < ? and (content is null or stanza_id = '') limit ${SWEPT_AT_ONCE})`,
        args: [store.now() - DAY_MS],
      },
    ]);
    if ((result?.rowsAffected ?? 0) < SWEPT_AT_ONCE) return;
  }
}

function open(store: Store, deviceId: number, hash: string, content: unknown): JournalContent {
  return store.box.openJson<JournalContent>(new Uint8Array(content as ArrayBuffer), context(deviceId, hash));
}
