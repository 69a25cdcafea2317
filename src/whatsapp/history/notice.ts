import type { proto } from "@whiskeysockets/baileys";
import { baileys } from "../baileys.ts";

/** With which the phone tells its companions of a piece of its history: the piece itself, or where it lies. */
export type HistoryNotice = proto.Message.IHistorySyncNotification;

const { INITIAL_BOOTSTRAP, RECENT, FULL } = baileys.proto.HistorySync.HistorySyncType;
/** Those that the phone sends unasked, and that hold messages. */
const WITH_MESSAGES = new Set<unknown>([INITIAL_BOOTSTRAP, RECENT, FULL]);

/** @param message of the own phone @returns null unless it brings messages of the time before the linking */
export function historyNotice(message: proto.IMessage): HistoryNotice | null {
  const notice = baileys.normalizeMessageContent(message)?.protocolMessage?.historySyncNotification;
  return notice && WITH_MESSAGES.has(notice.syncType) ? notice : null;
}
