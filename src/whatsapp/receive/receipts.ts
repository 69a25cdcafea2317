import type { BinaryNode } from "@whiskeysockets/baileys";
import type { OwnIds } from "../addresses.ts";
import { isGroup, isLid, isPn, withoutDevice } from "../jids.ts";
import type { MessageReceipt, OwnReading } from "../port.ts";
import { secondsIn } from "../stanza-numbers.ts";

/** `inactive`: delivered to a phone whose WhatsApp is in the background. */
const STATES: Record<string, MessageReceipt["state"] | undefined> = {
  "": "delivered",
  delivery: "delivered",
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
  const children = Array.isArray(content) ? content : [];
  const jid = withoutDevice(attrs.from);
  const gathered = children.filter(({ tag }) => tag === "participants");
  if (gathered.length > 0)
    return gathered.flatMap((about) => membersReceipts(about, attrs.type, { jid, own, now }));
  // The phone it came to cannot show it: the server has it, and that is all. Source: whatsapp-rust, receipts of LID peers.
  if (children.some(({ tag, attrs: { type } }) => tag === "error" && type === "feature-incapable")) return [];
  const state = STATES[attrs.type ?? ""];
  const by = withoutDevice(attrs.participant ?? attrs.from);
  // Receipts of the own phone are about what it received.
  if (state === undefined || by === own.pn || by === own.lid || !attrs.id) return [];
  const at = timeOf(attrs.t, now);
  return [attrs.id, ...listedIds(content)].map((waId) => ({ waId, jid, state, at }));
}

/**
 * What a receipt stanza says that the owner has read on another device of the number; null when it says nothing of that. It comes
 * from the account itself: `recipient` is the chat, or in a group the writer. Source: whatsmeow `parseReceipt`, whatsapp-rust
 * `address_receipt`.
 *
 * @param now Unix milliseconds, for a receipt that does not say when
 */
export function readOwnReading({ attrs, content }: BinaryNode, own: OwnIds, now: number): OwnReading | null {
  const from = withoutDevice(attrs.from);
  const isOwn = (jid: string): boolean => jid === own.pn || jid === own.lid;
  if ((attrs.type !== "read" && attrs.type !== "read-self") || !attrs.id) return null;
  const jid = isGroup(from) ? from : withoutDevice(attrs.recipient);
  if (!isOwn(isGroup(from) ? withoutDevice(attrs.participant) : from)) return null;
  // Whoever writes to himself is read by himself; a receipt without a chat says of none.
  if (isOwn(jid) || (!isPn(jid) && !isLid(jid) && !isGroup(jid))) return null;
  return { jid, waIds: [...new Set([attrs.id, ...listedIds(content)])], at: timeOf(attrs.t, now) };
}

/**
 * Receipts of a group's members come together: `<participants key message_id><user jid t type?/></participants>`, one for each message,
 * under an id of their own. Each member's type counts, else that of the whole. Source: whatsmeow `handleGroupedReceipt`.
 */
function membersReceipts(
  { attrs, content }: BinaryNode,
  type: string | undefined,
  { jid, own, now }: { jid: string; own: OwnIds; now: number },
): MessageReceipt[] {
  const waId = attrs.key ?? attrs.message_id;
  if (!waId || !Array.isArray(content)) return [];
  return content.flatMap((user) => {
    const state = STATES[user.attrs.type ?? type ?? ""];
    const by = withoutDevice(user.attrs.jid);
    if (user.tag !== "user" || state === undefined || by === own.pn || by === own.lid) return [];
    return [{ waId, jid, state, at: timeOf(user.attrs.t, now) }];
  });
}

function timeOf(attribute: string | undefined, now: number): number {
  const seconds = secondsIn(attribute);
  return seconds > 0 ? seconds * 1000 : now;
}

function listedIds(content: BinaryNode["content"]): string[] {
  if (!Array.isArray(content)) return [];
  const items = content.find((child) => child.tag === "list")?.content;
  return Array.isArray(items) ? items.flatMap((item) => item.attrs.id ?? []) : [];
}
