import type { WAMessage } from "@whiskeysockets/baileys";
import type { Incoming } from "../../model/messages.ts";
import type { OwnIds, StanzaAttributes } from "../addresses.ts";
import { baileys } from "../baileys.ts";
import { readContent } from "./content.ts";
import { lidUsersOf, toIncoming } from "./from-whatsapp.ts";
import { isGroup, isLid } from "../jids.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import type { SealedReader } from "./sealed-sources.ts";

/**
 * Messages that the own phone has sent again because they came here without content. They pass no decryption of their
 * own, so they come as Baileys' events instead of through the journal.
 */
export async function resentMessages(
  messages: WAMessage[],
  own: OwnIds,
  numbersOfLids: (lidUsers: string[]) => Promise<Map<string, string>>,
  readSealed: SealedReader,
): Promise<Incoming[]> {
  const incoming: Incoming[] = [];
  for (const received of messages) {
    try {
      const read = await readOne(received, received.message);
      if (read !== null) incoming.push(read);
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      // It stays missing; those that come with it do not.
    }
  }
  return incoming;

  async function readOne(received: WAMessage, message: WAMessage["message"]): Promise<Incoming | null> {
    const content = message ? readContent(message) : null;
    if (content === null || !message) return null;
    const attributes = attributesOf(received, own);
    const raw = baileys.proto.Message.encode(message).finish();
    const numbers = await numbersOfLids(lidUsersOf(attributes, content));
    const read = toIncoming({ attributes, content, raw }, own, (lidUser) => numbers.get(lidUser) ?? null);
    return readSealed(read, message);
  }
}

/** The attributes that the stanza must have had. */
function attributesOf({ key, messageTimestamp, pushName }: WAMessage, own: OwnIds): StanzaAttributes {
  const chat = key.remoteJid ?? "";
  const inGroup = isGroup(chat);
  const attributes: Record<string, string | undefined> = {
    id: key.id ?? undefined,
    from: key.fromMe && !inGroup ? own.pn : chat,
    recipient: key.fromMe && !inGroup ? chat : undefined,
    participant: inGroup ? (key.participant ?? undefined) : undefined,
    t: String(baileys.toNumber(messageTimestamp)),
    notify: pushName ?? undefined,
  };
  const alternative = inGroup ? key.participantAlt : key.remoteJidAlt;
  // Of an own message to a person it is that person whom the key names.
  const named = key.fromMe && !inGroup ? "recipient" : "sender";
  if (alternative) attributes[`${named}_${isLid(alternative) ? "lid" : "pn"}`] = alternative;
  return Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
