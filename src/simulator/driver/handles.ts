import type { AccountMethods, CompanionInfo, ContactHandle, NumberHandle } from "../surface/accounts.ts";
import type { ConversationMethods } from "../surface/conversations.ts";
import type { EvidenceMethods } from "../surface/evidence.ts";

/** The three names of an account. */
export interface AccountNames {
  number: string;
  jid: string;
  lid: string;
}

/** What handles are made of, in this process or another. */
export type HandleMethods = AccountMethods & ConversationMethods & EvidenceMethods;

/** A number's handle over any simulator, in this process or another. */
export function numberHandle(simulator: HandleMethods, names: AccountNames): NumberHandle {
  const { number } = names;
  return {
    ...names,
    scan: (qrText) => simulator.scan(number, qrText),
    scanAs: (otherNumber, qrText): Promise<CompanionInfo> => simulator.scan(otherNumber, qrText),
    enterPairingCode: (code) => simulator.enterPairingCode(number, code),
    logoutCompanion: (device) => simulator.logoutCompanion(number, device),
    typeAsOwner: (to, text, options) => simulator.typeAsOwner(number, to, text, options),
    sendAsOwner: (to, content, options) => simulator.sendAsOwner(number, to, content, options),
    votePollAsOwner: (pollId, options, how) => simulator.votePoll(number, pollId, options, how),
    reactAsOwner: (messageId, emoji) => simulator.react(number, messageId, emoji),
    editAsOwner: (messageId, text) => simulator.edit(number, messageId, text),
    revokeAsOwner: (messageId) => simulator.revoke(number, messageId),
    markReadAsOwner: (messageIds) => simulator.markRead(number, messageIds),
    companions: () => simulator.companions(number),
  };
}

/** A contact's handle over any simulator. */
export function contactHandle(simulator: HandleMethods, names: AccountNames): ContactHandle {
  const { number } = names;
  return {
    ...names,
    sendText: (to, text, options) => simulator.sendText(number, to, text, options),
    send: (to, content, options) => simulator.send(number, to, content, options),
    votePoll: (pollId, options, how) => simulator.votePoll(number, pollId, options, how),
    react: (messageId, emoji) => simulator.react(number, messageId, emoji),
    edit: (messageId, text) => simulator.edit(number, messageId, text),
    revoke: (messageId) => simulator.revoke(number, messageId),
    mediaOf: (messageId) => simulator.mediaOf(number, messageId),
    markRead: (messageIds) => simulator.markRead(number, messageIds),
    markPlayed: (messageId) => simulator.markPlayed(number, messageId),
    typing: (to, state) => simulator.typing(number, to, state),
    postStatus: (content, options) => simulator.postStatus(number, content, options),
    messages: (filter) => simulator.messages(number, filter),
    waitForMessage: (filter, timeoutMs) => simulator.waitForMessage(number, filter, timeoutMs),
  };
}
