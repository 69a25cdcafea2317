import type { MessageType } from "./messages.ts";

/** Who wrote a message: the contact, a bot or webhook of the number, or a person for the number, by hand or by REST. */
export type Writer = "contact" | "bot" | "owner";

/** A message of a chat as it is now: edits are applied, and deleted messages are left out. */
export interface PastMessage {
  readonly id: string;
  readonly who: Writer;
  /** `bot:<id>` or `webhook`. Null: a person. */
  readonly by: string | null;
  /** The writer: digits, or `…@lid` while the number is unknown. */
  readonly from: string;
  readonly kind: MessageType;
  /** What a person would read; "" when there is nothing. */
  readonly text: string;
  /** Unix milliseconds at which the gateway stored the message. */
  readonly at: number;
}

/** Which chat's messages are wanted. */
export interface PastOf {
  deviceId: number;
  /** Digits of the number itself. */
  ownNumber: string;
  /** Key of the chat in any of its forms. */
  chat: string;
  /** Rows of the messages that are being answered, oldest first: they are the last, and nothing that came after them is told. */
  inboxIds: readonly number[];
}

/** The last messages of a chat, oldest first. @param limit at most so many */
export type ReadPast = (of: PastOf, limit: number) => Promise<PastMessage[]>;
