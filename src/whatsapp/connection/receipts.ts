import type { BinaryNode } from "@whiskeysockets/baileys";
import type { OwnIds } from "../addresses.ts";
import { withoutDevice } from "../jids.ts";
import type { MessageReceipt } from "../port.ts";

/** `inactive`: delivered to a phone whose WhatsApp is in the background. */
const STATES: Record<string, MessageReceipt["state"] | undefined> = {
  "": "delivered",
  inactive: "delivered",
  read: "read",
  played: "played",
};

/** The year 5138: what is later is no time, and in milliseconds soon no integer that a database hands back. */
const LATEST_SECONDS = 99_999_999_999;

/** What a receipt stanza says about messages that this number sent, in direct chats and groups; empty for all others. */
export function readReceipts({ attrs, content }: BinaryNode, own: OwnIds): MessageReceipt[] {
  const state = STATES[attrs.type ?? ""];
  const by = withoutDevice(attrs.participant ?? attrs.from);
  // Receipts of the own phone are about what it received.
  if (state === undefined || by === own.pn || by === own.lid || !attrs.id) return [];
  const at = timeOf(attrs.t) ?? Date.now();
  const jid = withoutDevice(attrs.from);
  return [attrs.id, ...listedIds(content)].map((waId) => ({ waId, jid, state, at }));
}

/** Unix milliseconds; null for what is no time: a stranger's phone, or its server, writes what it likes. */
function timeOf(seconds: string | undefined): number | null {
  const at = Number(seconds);
  return Number.isInteger(at) && at > 0 && at <= LATEST_SECONDS ? at * 1000 : null;
}

function listedIds(content: BinaryNode["content"]): string[] {
  if (!Array.isArray(content)) return [];
  const items = content.find((child) => child.tag === "list")?.content;
  return Array.isArray(items) ? items.flatMap((item) => item.attrs.id ?? []) : [];
}
