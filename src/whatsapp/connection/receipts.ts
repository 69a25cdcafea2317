import type { BinaryNode } from "@whiskeysockets/baileys";
import type { OwnIds } from "../addresses.ts";
import { withoutDevice } from "../jids.ts";
import type { MessageReceipt } from "../port.ts";
import { secondsIn } from "../stanza-numbers.ts";

/** `inactive`: delivered to a phone whose WhatsApp is in the background. */
const STATES: Record<string, MessageReceipt["state"] | undefined> = {
  "": "delivered",
  inactive: "delivered",
  read: "read",
  played: "played",
};

/**
 * What a receipt stanza says about messages that this number sent, in direct chats and groups; empty for all others.
 *
 * @param now Unix milliseconds, for a receipt that does not say when
 */
export function readReceipts({ attrs, content }: BinaryNode, own: OwnIds, now: number): MessageReceipt[] {
  const state = STATES[attrs.type ?? ""];
  const by = withoutDevice(attrs.participant ?? attrs.from);
  // Receipts of the own phone are about what it received.
  if (state === undefined || by === own.pn || by === own.lid || !attrs.id) return [];
  const seconds = secondsIn(attrs.t);
  const at = seconds > 0 ? seconds * 1000 : now;
  const jid = withoutDevice(attrs.from);
  return [attrs.id, ...listedIds(content)].map((waId) => ({ waId, jid, state, at }));
}

function listedIds(content: BinaryNode["content"]): string[] {
  if (!Array.isArray(content)) return [];
  const items = content.find((child) => child.tag === "list")?.content;
  return Array.isArray(items) ? items.flatMap((item) => item.attrs.id ?? []) : [];
}
