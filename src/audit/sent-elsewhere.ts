import { outbox } from "../../drizzle/schema.ts";
import type { Logger } from "../log.ts";
import { giveWay } from "../model/give-way.ts";
import { HOUR_MS, type Cancel } from "../model/time.ts";
import { erasedContactKey } from "../store/erased-contact.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";

/** Looks for messages that contacts have from this number and that it does not know itself. */
interface SentElsewhere {
  /** Cheap: looked up later, together with others. Over {@link NOTED_PER_HOUR} a number is not listened to for the rest of the hour. */
  note(deviceId: number, message: { waId: string; jid: string }): void;
  /** Resolves when everything noted so far is looked up. */
  flush(): Promise<void>;
  forget(deviceId: number): void;
  stop(): Promise<void>;
}

const COLLECT_MS = 2_000;
/** Receipts of one number that wait to be looked up. A group of a thousand acknowledges one message with one id. */
const MOST_WAITING = 500;
/**
 * How many foreign messages of a number are written down in an hour. Ids are made up easily: a contact that acknowledges
 * what nobody sent would fill the database. That a number is used elsewhere shows long before.
 */
export const NOTED_PER_HOUR = 50;
const LOOKED_UP_AT_ONCE = 250;

// The owner's own phone sends under this number too; its messages come here as copies.
const NOTE = `insert into missing_messages
  (device_id, chat, sender, wa_id, from_me, jid, participant, timestamp, reason, noticed_at)
  select d.id, ?2, d.number || '@s.whatsapp.net', ?3, 1, ?2, null, 0, 'unknown_send', ?4 from devices d where d.id = ?1
  and not exists (select 1 from outbox where device_id = ?1 and wa_id = ?3)
  and not exists (select 1 from inbox where device_id = ?1 and wa_id = ?3 and sender = d.number || '@s.whatsapp.net'
    and (chat in (?2, (select pn_user || '@s.whatsapp.net' from lid_map where device_id = ?1 and lid_user = ?5))
      or chat in (select lid_user || '@lid' from lid_map where device_id = ?1 and pn_user = ?5)))
  and not exists (select 1 from chat_timers where device_id = ?1 and set_by = ?3
    and chat in (?2, (select pn_user || '@s.whatsapp.net' from lid_map where device_id = ?1 and lid_user = ?5)))
  and not exists (select 1 from meta where key = ?6)
  on conflict do nothing returning wa_id`;
// A cross join keeps its order: each id is looked up in the index, instead of every row of the outbox among the ids.
const KNOWN = defineQuery(
  `select ids.value as wa_id from json_each(?) ids
    cross join outbox o on o.device_id = ? and o.wa_id = ids.value`,
  { waId: outbox.waId },
);

/** What of one number waits, and what of this hour's allowance is used. */
interface Book {
  /** Chat by message id. */
  waiting: Map<string, string>;
  hourBegan: number;
  noted: number;
}

/** Receipts come in crowds: they are looked up together, with one read for each number. */
export function createSentElsewhere(
  { read, writer, time, box }: Pick<Store, "read" | "writer" | "time" | "box">,
  log: Logger,
): SentElsewhere {
  const books = new Map<number, Book>();
  let planned: Cancel | null = null;
  let running = Promise.resolve();

  /** Null when the number has used up its hour. */
  function bookOf(deviceId: number): Book | null {
    const now = time.now();
    let book = books.get(deviceId);
    if (book === undefined) {
      book = { waiting: new Map(), hourBegan: now, noted: 0 };
      books.set(deviceId, book);
    }
    if (Math.abs(now - book.hourBegan) >= HOUR_MS) Object.assign(book, { hourBegan: now, noted: 0 });
    return book.noted < NOTED_PER_HOUR ? book : null;
  }

  async function lookUp(deviceId: number, book: Book): Promise<void> {
    const noted = [...book.waiting];
    book.waiting.clear();
    for (let from = 0; from < noted.length && book.noted < NOTED_PER_HOUR; from += LOOKED_UP_AT_ONCE) {
      await giveWay();
      const some = noted.slice(from, from + LOOKED_UP_AT_ONCE);
      const found = await read(KNOWN, [JSON.stringify(some.map(([waId]) => waId)), deviceId]);
      const known = new Set(found.map(({ waId }) => waId));
      const unknown = some.filter(([waId]) => !known.has(waId)).slice(0, NOTED_PER_HOUR - book.noted);
      const results = await writer.commit(
        unknown.map(([waId, jid]) => ({
          sql: NOTE,
          args: [
            deviceId,
            jid,
            waId,
            time.now(),
            jid.replace(/@.*/s, ""),
            erasedContactKey(box, deviceId, jid),
          ],
        })),
        { owning: deviceId },
      );
      book.noted += results.filter((result) => result.rows.length > 0).length;
    }
    if (book.noted >= NOTED_PER_HOUR)
      log.warn(
        { device: deviceId },
        "many receipts are for messages that this gateway did not send; the audit ignores more of them for the rest of the hour",
      );
  }

  async function lookUpAll(): Promise<void> {
    for (const [deviceId, book] of books) {
      if (book.waiting.size > 0) await lookUp(deviceId, book);
      if (book.noted === 0 && book.waiting.size === 0) books.delete(deviceId);
    }
  }

  function flush(): Promise<void> {
    planned?.();
    planned = null;
    running = running
      .then(lookUpAll)
      .catch((error: unknown) => log.warn({ err: error }, "could not record receipts in the audit"));
    return running;
  }

  return {
    note(deviceId, { waId, jid }) {
      const book = bookOf(deviceId);
      if (book === null || book.waiting.size >= MOST_WAITING) return;
      book.waiting.set(waId, jid);
      planned ??= time.after(COLLECT_MS, () => void flush());
    },
    flush,
    forget: (deviceId) => void books.delete(deviceId),
    stop: flush,
  };
}
