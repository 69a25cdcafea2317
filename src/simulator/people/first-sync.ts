/** What a phone tells a companion that was just linked. */
import { deflateSync } from "node:zlib";
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Random } from "../random.ts";
import { LIDS, NUMBERS } from "./jids.ts";
import type { KnownChat, KnownHistory } from "./people.ts";

const { Type } = proto.Message.ProtocolMessage;

/** The account's app-state key; the same one for every companion. */
export interface AppStateKey {
  id: Uint8Array;
  secret: Uint8Array;
  rawId: number;
  /** Unix milliseconds. */
  madeAt: number;
}

/** A new key. @param madeAt  Unix milliseconds */
export function makeAppStateKey(random: Random, madeAt: number): AppStateKey {
  return { id: random.bytes(6), secret: random.bytes(32), rawId: random.integer(2 ** 31), madeAt };
}

/** Gives the companion the key with which app state is encrypted. */
export function shareAppStateKey({ id, secret, rawId, madeAt }: AppStateKey): proto.IMessage {
  const fingerprint = { rawId, currentIndex: 0, deviceIndexes: [0] };
  return {
    protocolMessage: {
      type: Type.APP_STATE_SYNC_KEY_SHARE,
      appStateSyncKeyShare: {
        keys: [{ keyId: { keyId: id }, keyData: { keyData: secret, fingerprint, timestamp: madeAt } }],
      },
    },
  };
}

/** What was there before a companion was linked: chats, and which number is which LID. */
export function firstHistory({ pairs, chats }: KnownHistory): proto.IMessage {
  const history = proto.HistorySync.encode({
    syncType: proto.HistorySync.HistorySyncType.INITIAL_BOOTSTRAP,
    chunkOrder: 1,
    progress: 100,
    conversations: chats.map(conversation),
    phoneNumberToLidMappings: pairs.map(({ number, lid }) => ({
      pnJid: `${number}@${NUMBERS}`,
      lidJid: `${lid}@${LIDS}`,
    })),
  }).finish();
  return {
    protocolMessage: {
      type: Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        syncType: proto.Message.HistorySyncType.INITIAL_BOOTSTRAP,
        chunkOrder: 1,
        progress: 100,
        initialHistBootstrapInlinePayload: deflateSync(history),
      },
    },
  };
}

/** A chat as a phone hands it over, the newest message first. */
function conversation({ jid, pnJid, lidJid, name, unread, messages }: KnownChat): proto.IConversation {
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
    messages: newestFirst,
  };
}

/** Whether a companion asks for the app-state key. */
export function asksForAppStateKey(message: proto.IMessage): boolean {
  return message.protocolMessage?.type === Type.APP_STATE_SYNC_KEY_REQUEST;
}
