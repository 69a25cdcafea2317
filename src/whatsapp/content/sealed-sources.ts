import type { proto } from "@whiskeysockets/baileys";
import type { Draft } from "../../model/content/drafts.ts";
import type { Incoming } from "../../model/messages.ts";
import type { OwnIds } from "../addresses.ts";
import { baileys } from "../baileys.ts";
import { toPn } from "../jids.ts";
import type { SentContent } from "../port.ts";

/** Where the messages are found that votes and sealed edits are about. */
export interface SealedSources {
  /** What this number sent under an id; null when nothing. */
  sent(waId: string): Promise<Draft | null>;
  /** What arrived in a chat under an id; null when nothing. */
  received(chatKey: string, waId: string): Promise<Incoming | null>;
  /** What has changed a message in a chat, as it arrived, oldest first. */
  changes(chatKey: string, waId: string): Promise<Incoming[]>;
  /** User of the LID that belongs to a number, digits; null while it is not known. */
  lidOfNumber(number: string): Promise<string | null>;
}

/** What was sent and received, of all numbers. */
export interface StoredContents {
  /** What was sent under an id, for a phone that could not read it and asks again; null when it is not known. */
  sentMessage(deviceId: number, waId: string): Promise<SentContent | null>;
  /** What arrived in a chat under an id, for votes on it and edits of it; null when it is not known. */
  receivedContent(deviceId: number, chatKey: string, waId: string): Promise<Incoming | null>;
  /** What has changed a message in a chat, oldest first. Default: nothing. */
  receivedChanges?: ((deviceId: number, chatKey: string, waId: string) => Promise<Incoming[]>) | undefined;
}

/** Those of one number. */
export const sourcesOf = (
  { sentMessage, receivedContent, receivedChanges }: StoredContents,
  deviceId: number,
): Omit<SealedSources, "lidOfNumber"> => ({
  sent: async (waId) => (await sentMessage(deviceId, waId))?.draft ?? null,
  received: (chatKey, waId) => receivedContent(deviceId, chatKey, waId),
  changes: async (chatKey, waId) => (await receivedChanges?.(deviceId, chatKey, waId)) ?? [],
});

/** Reads what only those can read who have the message that it is about. Other messages come back as they are. */
export type SealedReader = (incoming: Incoming, message: proto.IMessage) => Promise<Incoming>;

/** Whoever has an id here, as `Incoming` and votes name people. */
type Writer = Pick<Incoming, "fromMe" | "sender" | "number" | "lid" | "participant">;

/**
 * The ids that a writer goes by. What is sealed is bound to one of them, the number's or the LID's; which one depends on the phone and
 * is told nowhere: all have to be tried.
 */
export async function idsOf(
  writer: Writer,
  own: OwnIds,
  { lidOfNumber }: Pick<SealedSources, "lidOfNumber">,
): Promise<string[]> {
  if (writer.fromMe) return distinct(own.lid, own.pn);
  const { number } = writer;
  const lidUser = writer.lid === null && number !== null ? await lidOfNumber(number) : null;
  return distinct(
    writer.lid ?? (lidUser && `${lidUser}@lid`),
    number && toPn(number),
    writer.participant,
    writer.sender,
  );
}

/** Each id once, without what is not known. */
export const distinct = (...known: (string | null)[]): string[] => [
  ...new Set(known.filter((id) => id !== null)),
];

/** `messageSecret` of a message that arrived, 32 bytes; null when it has none. */
export function secretIn({ raw }: Incoming): Uint8Array | null {
  const message = baileys.proto.Message.decode(Buffer.from(raw, "base64"));
  const inner = baileys.normalizeMessageContent(message);
  const secret = (message.messageContextInfo ?? inner?.messageContextInfo)?.messageSecret;
  return secret?.length ? secret : null;
}
