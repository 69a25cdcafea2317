import { outbox } from "../../../drizzle/schema.ts";
import { withText } from "../../model/content/edited.ts";
import { defineQuery } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import type { QueuedMessage } from "./chats.ts";
import type { Endings } from "./endings.ts";
import type { Rows } from "../rows.ts";
import type { Sender } from "./sender.ts";

interface ChangingDeps {
  /** In the hands of whoever has the number. */
  store: Pick<Store, "readOne" | "writer">;
  rows: Pick<Rows, "openDraft" | "rewritten">;
  sender: Pick<Sender, "find" | "take">;
  endings: Pick<Endings, "all">;
  changed(deviceId: number, waId: string): void;
}

const BODY = defineQuery("SELECT body FROM outbox WHERE id = ? AND state = 'queued'", { body: outbox.body });

/** @returns changes a message that waits; see `NumberOutbox.change` */
export function createChanging({ store, rows, sender, endings, changed }: ChangingDeps) {
  async function rewrite({ id, deviceId, waId }: QueuedMessage, text: string): Promise<boolean> {
    const row = await store.readOne(BODY, [id]);
    const draft = row && withText(rows.openDraft(deviceId, waId, row.body), text);
    if (draft === null) return false;
    const statement = rows.rewritten({ deviceId, waId, draft, state: "queued" });
    const [result] = await store.writer.commit([statement], { owning: deviceId });
    changed(deviceId, waId);
    return result!.rowsAffected > 0;
  }

  return async (waId: string, text: string | null): Promise<boolean> => {
    const message = sender.find(waId);
    if (message === undefined || message.uncertain || message.changing !== null) return false;
    if (text === null) {
      if (!sender.take(message)) return false;
      await endings.all([message], "cancelled", null);
      return true;
    }
    // It keeps its place, and does not leave meanwhile; what leaves is read from the row.
    const changing = rewrite(message, text);
    message.draft = null;
    message.changing = changing;
    try {
      return await changing;
    } finally {
      message.changing = null;
    }
  };
}
