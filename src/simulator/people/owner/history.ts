/** What a phone tells companions of messages that are not sent to them any more: history, in pieces. */
import { deflateSync } from "node:zlib";
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Content } from "../../surface/content.ts";
import type { HistoryType } from "../../surface/history.ts";
import { compose } from "../content.ts";
import type { Desk } from "../content/context.ts";
import { LIDS, NUMBERS } from "../jids.ts";
import { encryptFile } from "../messages/media-file.ts";
import type { KnownChat, KnownHistory, KnownMessage } from "../people.ts";

const { Type } = proto.Message.ProtocolMessage;
const { HISTORY_SYNC_ON_DEMAND } = proto.Message.PeerDataOperationRequestType;
const { HistorySyncType } = proto.HistorySync;

const TYPES: Record<HistoryType, proto.HistorySync.HistorySyncType> = {
  first: HistorySyncType.INITIAL_BOOTSTRAP,
  recent: HistorySyncType.RECENT,
  full: HistorySyncType.FULL,
  push_names: HistorySyncType.PUSH_NAME,
  on_demand: HistorySyncType.ON_DEMAND,
};

/** A piece of history. */
export interface HistoryPiece extends KnownHistory {
  type: HistoryType;
  /** From 1. */
  chunk: number;
  /** Per cent of its type that has been told, this piece included. */
  progress: number;
  /** Id of the message that asked for it. */
  requestId?: string;
}

/**
 * The message that hands over a piece. Source: whatsmeow `DownloadHistorySync`.
 *
 * @param inline the piece goes along in it; else it is put into a file
 */
export function historyMessage(piece: HistoryPiece, desk: Desk, inline: boolean): proto.IMessage {
  const { type, chunk: chunkOrder, progress, requestId: peerDataRequestSessionId } = piece;
  const syncType = TYPES[type];
  const payload = deflateSync(payloadOf(piece, desk));
  return {
    protocolMessage: {
      type: Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        // The two enumerations have the same numbers.
        syncType: syncType as number,
        chunkOrder,
        progress,
        peerDataRequestSessionId,
        ...(inline ? { initialHistBootstrapInlinePayload: payload } : stored(payload, desk)),
      },
    },
  };
}

function payloadOf(
  { type, chunk, progress, pairs, chats, pushNames = [] }: HistoryPiece,
  desk: Desk,
): Uint8Array {
  return proto.HistorySync.encode({
    syncType: TYPES[type],
    chunkOrder: chunk,
    progress,
    conversations: chats.map((chat) => conversation(chat, desk)),
    pushnames: pushNames.map(({ jid, name }) => ({ id: jid, pushname: name })),
    phoneNumberToLidMappings: pairs.map(({ number, lid }) => ({
      pnJid: `${number}@${NUMBERS}`,
      lidJid: `${lid}@${LIDS}`,
    })),
  }).finish();
}

function stored(payload: Uint8Array, { random, store }: Desk): proto.Message.IHistorySyncNotification {
  const mediaKey = random.bytes(32);
  const { bytes, fileSha256, fileEncSha256, fileLength } = encryptFile(payload, mediaKey, "history");
  const { directPath } = store("md-msg-hist", bytes);
  return { mediaKey, directPath, fileSha256, fileEncSha256, fileLength };
}

/** A message as a phone keeps it; one that was edited is the edit, which names it. Source: whatsmeow `ParseWebMessage`. */
function kept(entry: KnownMessage, key: proto.IMessageKey, desk: Desk): proto.IMessage {
  const { text, image, edited, expiration } = entry;
  const content: Content = image ? { kind: "image", bytes: image, caption: text } : { kind: "text", text };
  const message = compose(content, desk, { expiration });
  if (!edited) return message;
  return { protocolMessage: { type: Type.MESSAGE_EDIT, key, editedMessage: message } };
}

/** A chat as a phone hands it over, the newest message first. */
function conversation(chat: KnownChat, desk: Desk): proto.IConversation {
  const { jid, pnJid, lidJid, name, unread, messages, disappearing, token } = chat;
  const newestFirst = messages.toReversed().map((entry, index) => {
    const { id, fromMe, participant, name: pushName, timestamp } = entry;
    const key = { remoteJid: jid, id, fromMe, participant };
    const message = kept(entry, key, desk);
    return {
      message: { key, message, messageTimestamp: timestamp, participant, pushName },
      msgOrderId: messages.length - index,
    };
  });
  const conversationTimestamp = messages.at(-1)?.timestamp;
  return {
    id: jid,
    pnJid,
    lidJid,
    name,
    unreadCount: unread ?? 0,
    conversationTimestamp,
    ...(disappearing && {
      ephemeralExpiration: disappearing.seconds,
      ephemeralSettingTimestamp: disappearing.since,
    }),
    ...(token && { tcToken: token.token, tcTokenTimestamp: token.t }),
    messages: newestFirst,
  };
}

/** What a companion asks for of the time before a message; undefined when it asks for something else. */
export function wantedHistory({
  protocolMessage,
}: proto.IMessage): proto.Message.PeerDataOperationRequestMessage.IHistorySyncOnDemandRequest | undefined {
  const request = protocolMessage?.peerDataOperationRequestMessage;
  if (request?.peerDataOperationRequestType !== HISTORY_SYNC_ON_DEMAND) return undefined;
  return request.historySyncOnDemandRequest ?? undefined;
}

/** The part of a chat that comes before a message, as far as it is wanted; without messages when there is none. */
export function olderPart(
  chats: readonly KnownChat[],
  wanted: proto.Message.PeerDataOperationRequestMessage.IHistorySyncOnDemandRequest,
): KnownChat[] {
  const chat = chats.find(({ jid, pnJid, lidJid }) => [jid, pnJid, lidJid].includes(wanted.chatJid ?? ""));
  if (!chat) return [];
  const at = chat.messages.findIndex(({ id }) => id === wanted.oldestMsgId);
  const before = at < 0 ? chat.messages : chat.messages.slice(0, at);
  return [{ ...chat, messages: before.slice(-(wanted.onDemandMsgCount ?? 50)) }];
}
