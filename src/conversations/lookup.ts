import { inbox, outbox } from "../../drizzle/schema.ts";
import { isImported, sentAt, type Incoming, type MessageType } from "../model/messages.ts";
import { giveWay } from "../model/give-way.ts";
import { defineQuery } from "../store/query.ts";
import type { Reading } from "../store/store.ts";
import { changesOf } from "./changes.ts";
import type { Contents, OwnNumber } from "./records.ts";
import { inTurns } from "./trace-rows.ts";

/** One message, as others refer to it. */
export interface FoundMessage {
  /** The number that received or sent it, digits. */
  sender: string;
  deviceId: number;
  /** WhatsApp's id. */
  id: string;
  /** Canonical key of the chat. */
  chat: string;
  /** The chat's address on the wire. */
  jid: string;
  type: MessageType;
  /** Who wrote it: somebody else, the owner on the phone, or this gateway. */
  by: "contact" | "phone" | "gateway";
  /** In groups, whoever wrote it; null for what the number itself wrote. */
  participant: string | null;
  /** When it was written, Unix milliseconds; null: it has not left. */
  at: number | null;
  /** As it came; null for what the gateway sent. */
  content: Incoming | null;
  /** It has another text since, or is to get one. */
  edited: boolean;
  /** It was taken back, or is to be. */
  revoked: boolean;
  /** It was written before the number was linked. */
  imported: boolean;
}

/**
 * Finds messages by WhatsApp's id. Phones make ids up, so a stranger can use one again that he has seen in a group: the first
 * message with an id is the one that is meant.
 *
 * @returns at most one for each number, what the gateway sent before its echo
 */
export type LookUp = (devices: readonly OwnNumber[], id: string) => Promise<FoundMessage[]>;

const CAME = defineQuery(
  `SELECT i.id, i.device_id, i.chat, i.sender, i.from_me, i.type, i.body FROM json_each(?1) n CROSS JOIN inbox i
  WHERE i.id = (SELECT min(id) FROM inbox WHERE device_id = n.value AND wa_id = ?2
    AND type <> 'timer' AND chat <> 'status@broadcast')`,
  {
    id: inbox.id,
    deviceId: inbox.deviceId,
    chat: inbox.chat,
    sender: inbox.sender,
    fromMe: inbox.fromMe,
    type: inbox.type,
    body: inbox.body,
  },
);
const WENT = defineQuery(
  `SELECT o.device_id, o.chat, o.jid, o.kind, o.sent_at FROM json_each(?1) n CROSS JOIN outbox o
  WHERE o.device_id = n.value AND o.wa_id = ?2`,
  {
    deviceId: outbox.deviceId,
    chat: outbox.chat,
    jid: outbox.jid,
    kind: outbox.kind,
    sentAt: outbox.sentAt,
  },
);

export function createLookUp(
  store: Pick<Reading, "read">,
  { openIncoming, openDraft }: Pick<Contents, "openIncoming" | "openDraft">,
): LookUp {
  async function findAmong(devices: readonly OwnNumber[], id: string): Promise<FoundMessage[]> {
    const numbers = new Map(devices.map((device) => [device.id, device.number]));
    const args = [JSON.stringify([...numbers.keys()]), id];
    const found = new Map<number, Omit<FoundMessage, "sender" | "id" | "edited" | "revoked">>();
    const writers = new Map<number, string>();
    for (const { kind, sentAt: at, ...row } of await store.read(WENT, args))
      found.set(row.deviceId, {
        ...row,
        type: kind as MessageType,
        by: "gateway",
        participant: null,
        at,
        content: null,
        imported: false,
      });
    for (const row of await store.read(CAME, args)) {
      if (found.has(row.deviceId)) continue;
      const message = opened(() => openIncoming(row.deviceId, id, row.body));
      if (message === null) continue;
      found.set(row.deviceId, received(row, message));
      writers.set(row.deviceId, row.sender);
    }
    if (found.size === 0) return [];
    const changes = await changesOf(
      store,
      { openIncoming, openDraft },
      [...found.keys()].map((deviceId) => ({ deviceId, waId: id })),
    );
    return Array.from(found.values(), (message) => {
      const { deviceId, chat, by } = message;
      const of = { chat, sender: writers.get(deviceId) ?? null, fromMe: by !== "contact" };
      const { edited = false, revoked = false } = changes(deviceId, id, of);
      return { ...message, id, sender: numbers.get(deviceId)!, edited, revoked };
    });
  }

  return async (devices, id) => {
    const found: FoundMessage[] = [];
    for (const some of inTurns(devices)) {
      found.push(...(await findAmong(some, id)));
      await giveWay();
    }
    return found;
  };
}

function received(
  row: { id: number; deviceId: number; chat: string; fromMe: boolean; type: string },
  message: Incoming,
): Omit<FoundMessage, "sender" | "id" | "edited" | "revoked"> {
  const { deviceId, chat, fromMe, type } = row;
  return {
    deviceId,
    chat,
    jid: message.chat,
    type: type as MessageType,
    by: fromMe ? "phone" : "contact",
    participant: fromMe ? null : message.participant,
    at: sentAt(message),
    content: message,
    imported: isImported(row.id),
  };
}

/** What does not open any more is not there. */
function opened<T>(open: () => T): T | null {
  try {
    return open();
  } catch {
    return null;
  }
}
