import { outbox } from "../../drizzle/schema.ts";
import { isAction, kindOf, textOfDraft, type Draft, type QuotedDraft } from "../model/content/drafts.ts";
import { defineQuery } from "../store/query.ts";
import type { Store } from "../store/store.ts";
import type { SentContent } from "../whatsapp/port.ts";
import { createRows } from "./rows.ts";

/** Messages of ours as they were sent, as long as they are kept. */
export interface SentReader {
  /** A message with where it was sent, for phones that could not decrypt it; null when it is not known any more. */
  sentMessage(deviceId: number, waId: string): Promise<SentContent | null>;
  sentContent(deviceId: number, waId: string): Promise<Draft | null>;
  /** What a quote shows of a message to this chat; null when it is not known there, or nothing that one can quote. */
  quotable(deviceId: number, chatKey: string, waId: string): Promise<QuotedDraft | null>;
}

const SENT = defineQuery("SELECT body, chat, jid FROM outbox WHERE device_id = ? AND wa_id = ?", {
  body: outbox.body,
  chat: outbox.chat,
  jid: outbox.jid,
});

/** Reads the table `outbox`; keeps nothing in memory. */
export function createSentReader({ readOne, box, now }: Pick<Store, "readOne" | "box" | "now">): SentReader {
  const { openDraft } = createRows(box, now);

  async function sentMessage(deviceId: number, waId: string): Promise<SentContent | null> {
    const row = await readOne(SENT, [deviceId, waId]);
    if (row === null) return null;
    return { draft: openDraft(deviceId, waId, row.body), chat: row.chat, jid: row.jid };
  }

  return {
    sentMessage,
    async quotable(deviceId, chatKey, waId) {
      const sent = await sentMessage(deviceId, waId);
      return sent === null || sent.chat !== chatKey ? null : quotedDraft(sent.draft);
    },
    sentContent: async (deviceId, waId) => (await sentMessage(deviceId, waId))?.draft ?? null,
  };
}

function quotedDraft(draft: Draft): QuotedDraft | null {
  if (isAction(draft)) return null;
  const shown = { kind: kindOf(draft), text: textOfDraft(draft) };
  if (draft.kind === "poll") return { ...shown, options: draft.options };
  return kindOf(draft) === "document" && "fileName" in draft && draft.fileName !== undefined
    ? { ...shown, fileName: draft.fileName }
    : shown;
}
