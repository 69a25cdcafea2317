import { inbox } from "../../drizzle/schema.ts";
import type { DraftQuote } from "../model/content/drafts.ts";
import type { Incoming } from "../model/messages.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";

/** Messages that arrived, as long as they are kept. */
export interface InboxReader {
  /** The message of a row, or null when the row is gone. */
  load(inboxId: number): Promise<Incoming | null>;
  /** What quoting a message takes, or null when this chat has no message of that id. */
  findQuote(deviceId: number, chatKey: string, waId: string): Promise<DraftQuote | null>;
  /** The message of that id in this chat, or null. */
  find(deviceId: number, chatKey: string, waId: string): Promise<Incoming | null>;
  /** Edits of that message in this chat, oldest first, the first hundred. */
  changesOf(deviceId: number, chatKey: string, waId: string): Promise<Incoming[]>;
}

const SEALED = { deviceId: inbox.deviceId, waId: inbox.waId, body: inbox.body };
const LOAD = defineQuery("SELECT device_id, wa_id, body FROM inbox WHERE id = ?", SEALED);
const FIND = defineQuery(
  "SELECT device_id, wa_id, body FROM inbox WHERE device_id = ? AND wa_id = ? AND chat = ? LIMIT 1",
  SEALED,
);

const CHANGES = defineQuery(
  `SELECT device_id, wa_id, body FROM inbox INDEXED BY inbox_changes
WHERE device_id = ? AND target_id = ? AND chat = ? AND type = 'edit' ORDER BY id LIMIT 100`,
  SEALED,
);

/** @returns opens the content of a row @throws when it is not this row's */
export const contentOpener =
  (box: Pick<Store["box"], "openJson">) =>
  (deviceId: number, waId: string, body: Uint8Array): Incoming =>
    box.openJson<Incoming>(body, sealContext(deviceId, waId));

/** Reads the table `inbox`; keeps nothing in memory. */
export function createInboxReader({
  read,
  readOne,
  box,
}: Pick<Store, "read" | "readOne" | "box">): InboxReader {
  const content = contentOpener(box);
  const open = ({ deviceId, waId, body }: { deviceId: number; waId: string; body: Buffer }): Incoming =>
    content(deviceId, waId, body);

  async function find(deviceId: number, chatKey: string, waId: string): Promise<Incoming | null> {
    const row = await readOne(FIND, [deviceId, waId, chatKey]);
    return row && open(row);
  }

  return {
    async load(inboxId) {
      const row = await readOne(LOAD, [inboxId]);
      return row && open(row);
    },
    async findQuote(deviceId, chatKey, waId) {
      const message = await find(deviceId, chatKey, waId);
      if (message === null) return null;
      const { id, sender, fromMe, raw } = message;
      return { id, sender, fromMe, raw };
    },
    find,
    changesOf: async (deviceId, chatKey, waId) => (await read(CHANGES, [deviceId, waId, chatKey])).map(open),
  };
}

/** Binds a sealed body to its row, whose own id is not known before the insert. */
export function sealContext(deviceId: number, waId: string): string {
  return `inbox:${deviceId}:${waId}`;
}
