/** What a phone tells companions of messages that are not sent to them any more: history, in pieces. */
import { deflateSync } from "node:zlib";
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { HistoryType } from "../../surface/history.ts";
import { LIDS, NUMBERS } from "../jids.ts";
import type { FileHost } from "../link.ts";
import { encryptFile } from "../messages/media-file.ts";
import type { KnownChat, KnownHistory } from "../people.ts";

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

/** Puts a piece into a file; absent: it goes along in the message. */
interface Storing {
  mediaKey: Uint8Array;
  files: FileHost;
}

/** The message that hands over a piece. Source: whatsmeow `DownloadHistorySync`. */
export function historyMessage(piece: HistoryPiece, storing?: Storing): proto.IMessage {
  const { type, chunk: chunkOrder, progress, requestId: peerDataRequestSessionId } = piece;
  const syncType = TYPES[type];
  const payload = deflateSync(payloadOf(piece));
  return {
    protocolMessage: {
      type: Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        // The two enumerations have the same numbers.
        syncType: syncType as number,
        chunkOrder,
        progress,
        peerDataRequestSessionId,
        ...(storing ? stored(payload, storing) : { initialHistBootstrapInlinePayload: payload }),
      },
    },
  };
}

function payloadOf({ type, chunk, progress, pairs, chats, pushNames = [] }: HistoryPiece): Uint8Array {
  return proto.HistorySync.encode({
    syncType: TYPES[type],
    chunkOrder: chunk,
    progress,
    conversations: chats.map(conversation),
    pushnames: pushNames.map(({ jid, name }) => ({ id: jid, pushname: name })),
    phoneNumberToLidMappings: pairs.map(({ number, lid }) => ({
      pnJid: `${number}@${NUMBERS}`,
      lidJid: `${lid}@${LIDS}`,
    })),
  }).finish();
}

function stored(payload: Uint8Array, { mediaKey, files }: Storing): proto.Message.IHistorySyncNotification {
  const { bytes, fileSha256, fileEncSha256, fileLength } = encryptFile(payload, mediaKey, "history");
  const { directPath } = files.store("md-msg-hist", bytes);
  return { mediaKey, directPath, fileSha256, fileEncSha256, fileLength };
}

/** A chat as a phone hands it over, the newest message first. */
function conversation(chat: KnownChat): proto.IConversation {
  const { jid, pnJid, lidJid, name, unread, messages, disappearing, token } = chat;
  const newestFirst = messages.toReversed().map((entry, index) => {
    const { id, fromMe, participant, text, timestamp } = entry;
    const key = { remoteJid: jid, id, fromMe, participant };
    const message = { conversation: text };
    return {
      message: { key, message, messageTimestamp: timestamp, participant },
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
