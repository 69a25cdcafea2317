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
  sentContent: SentReader["sentContent"];
  polls: Pick<Polls, "sent">;
  /** Id of a number of an account, or null. */
  deviceOf(accountId: string, number: string): number | null;
}

/** @returns looks a message of ours up by its id; null when the account has none of that id */
export function createSentMessages({ find, sentContent, polls, deviceOf }: SentMessagesDeps) {
  return async (accountId: string, waId: string): Promise<SentMessage | null> => {
    const message = await find(accountId, waId);
    if (message?.kind !== "poll") return message;
    const deviceId = deviceOf(accountId, message.sender);
    const draft = deviceId === null ? null : await sentContent(deviceId, waId);
    if (deviceId === null || draft?.kind !== "poll") return message;
    return { ...message, poll: await polls.sent(deviceId, waId, draft) };
  };
}
