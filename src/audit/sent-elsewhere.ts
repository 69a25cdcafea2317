import type { Logger } from "../log.ts";
import type { Store } from "../store/store.ts";

/** Looks for messages that contacts have from this number and that it does not know itself. */
export interface SentElsewhere {
  note(deviceId: number, message: { waId: string; jid: string }): void;
  /** Resolves when everything noted so far is looked up. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

const COLLECT_MS = 2_000;
const MOST_WAITING = 5_000;

// The owner's own phone sends under this number too; its messages come here as copies.
const NOTE = `insert into missing_messages
  (device_id, chat, sender, wa_id, from_me, jid, participant, timestamp, reason, noticed_at)
  select d.id, ?2, d.number || '@s.whatsapp.net', ?3, 1, ?2, null, 0, 'unknown_send', ?4 from devices d where d.id = ?1
  and not exists (select 1 from outbox where device_id = ?1 and wa_id = ?3)
  and not exists (select 1 from inbox where device_id = ?1 and wa_id = ?3 and sender = d.number || '@s.whatsapp.net'
    and chat in (?2, (select pn_user || '@s.whatsapp.net' from lid_map where device_id = ?1 and lid_user = ?5),
      (select lid_user || '@lid' from lid_map where device_id = ?1 and pn_user = ?5)))
  on conflict do nothing`;
const KNOWN = `select o.wa_id from outbox o join json_each(?) ids on o.wa_id = ids.value where o.device_id = ?`;

interface Noted {
  deviceId: number;
  jid: string;
}

/** Receipts come in crowds: they are looked up together, with one read for each number. */
export function createSentElsewhere(
  { rows, writer, now }: Pick<Store, "rows" | "writer" | "now">,
  log: Logger,
): SentElsewhere {
  let waiting = new Map<string, Noted>();
  let timer: NodeJS.Timeout | null = null;
  let running = Promise.resolve();

  async function lookUp(noted: Map<string, Noted>): Promise<void> {
    const byDevice = new Map<number, string[]>();
    for (const [waId, { deviceId }] of noted)
      byDevice.set(deviceId, [...(byDevice.get(deviceId) ?? []), waId]);
    for (const [deviceId, waIds] of byDevice) {
      const known = new Set(
        (await rows(KNOWN, [JSON.stringify(waIds), deviceId])).map((row) => String(row.wa_id)),
      );
      const unknown = waIds.filter((waId) => !known.has(waId));
      if (unknown.length === 0) continue;
      await writer.commit(
        unknown.map((waId) => {
          const { jid } = noted.get(waId)!;
          return { sql: NOTE, args: [deviceId, jid, waId, now(), jid.replace(/@.*$/, "")] };
        }),
      );
    }
  }

  function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const noted = waiting;
    waiting = new Map();
    running = running
      .then(() => lookUp(noted))
      .catch((error: unknown) => log.warn({ error: (error as Error).name }, "receipts are not in the audit"));
    return running;
  }

  return {
    note(deviceId, { waId, jid }) {
      if (waiting.size < MOST_WAITING) waiting.set(waId, { deviceId, jid });
      timer ??= setTimeout(() => void flush(), COLLECT_MS).unref();
    },
    flush,
    stop: flush,
  };
}
