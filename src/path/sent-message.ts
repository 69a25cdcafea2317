import type { Polls } from "../inbox/polls.ts";
import type { PollTally } from "../model/messages.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { MessageRecord } from "../outbox/record.ts";
import type { SentReader } from "../outbox/sent-reader.ts";

/** What became of a message of ours; of a poll also who chose what. */
export interface SentMessage extends MessageRecord {
  poll?: PollTally & { name: string };
}

interface SentMessagesDeps {
  find: Outbox["find"];
  sentMessage: SentReader["sentMessage"];
  polls: Pick<Polls, "sent">;
  /** Id of a number of an account, or null. */
  deviceOf(accountId: string, number: string): number | null;
}

/** @returns looks a message of ours up by its id; null when the account has none of that id */
export function createSentMessages({ find, sentMessage, polls, deviceOf }: SentMessagesDeps) {
  return async (accountId: string, waId: string): Promise<SentMessage | null> => {
    const message = await find(accountId, waId);
    if (message?.kind !== "poll") return message;
    const deviceId = deviceOf(accountId, message.sender);
    const sent = deviceId === null ? null : await sentMessage(deviceId, waId);
    if (deviceId === null || sent?.draft.kind !== "poll") return message;
    const { chat, draft } = sent;
    return { ...message, poll: await polls.sent(deviceId, { id: waId, chat, draft }) };
  };
}
