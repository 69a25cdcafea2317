import type { Draft } from "../model/content/drafts.ts";
import type { Incoming, IncomingMedia, MessageType, SentState } from "../model/messages.ts";
import type { ListParts } from "./parts.ts";

/** A number whose messages are listed. */
export interface OwnNumber {
  id: number;
  /** Digits. */
  number: string;
}

/** A file of a message: in the words of a webhook's event. */
export interface MessageFile {
  type: string;
  mimetype: string;
  fileName: string | null;
  /** Bytes. */
  size: number;
  /** Of sound and video that came, as the sender's phone says. */
  seconds?: number;
  /** Signed, expiring, needs no key; null when there is none. */
  url: string | null;
  /** Why there is no address. */
  error?: string;
}

/** One message that a number received or sent. Absent is undefined; times are Unix milliseconds. */
export interface ListedMessage extends ListParts {
  /** WhatsApp's id; of a message that the gateway sent, the one that `GET /messages/{id}` takes. */
  id: string;
  /** The number itself, digits. */
  sender: string;
  /** What `number` of a send accepts to answer there. */
  chat: string;
  direction: "in" | "out";
  /** The writer: digits, or `…@lid` while the number is unknown. */
  from: string;
  type: MessageType;
  /** What a person would read, after its last edit; "" when there is nothing. */
  message: string;
  media?: MessageFile;
  quoted?: { id: string; from: string; text: string };
  /** When the gateway stored it, and of one that was imported when it was written: the list is in this order. */
  at: number;
  /** When it is, or was, to be sent. */
  sendAt?: number;
  /** When it disappears from phones. */
  expiresAt?: number;
  /** Of what the gateway sent. */
  state?: SentState;
  /** Who answered a message that came, or wrote one that went: `bot:<id>` or `webhook`. */
  answeredBy?: string;
  /** Who wrote what went out: `bot:<id>`, `webhook`, `calls`, `console`, `phone` or `api:<name of the key>`. */
  by?: string;
  edited?: true;
  revoked?: true;
  /** It was written before the number was linked: WhatsApp's history has brought it. */
  imported?: true;
}

/** What the list takes from those who keep messages and files. */
export interface Contents {
  /** @throws when the content does not open */
  openIncoming(deviceId: number, waId: string, body: Uint8Array): Incoming;
  /** @throws when the content does not open */
  openDraft(deviceId: number, waId: string, body: Uint8Array): Draft;
  /**
   * An edit that came before its message, with the text that it has since that is there; as it is while it does not open.
   * Default: each stays as it came.
   */
  readAgain?: ((deviceId: number, edit: Incoming) => Promise<Incoming>) | undefined;
  /** The address of a received file, or why there is none. */
  link(
    target: { deviceId: number; inboxId: number },
    media: IncomingMedia,
  ): { url: string } | { error: string };
  /** The address of the file of a message that was sent. */
  sentLink(target: { deviceId: number; waId: string }): string;
  /** The id that the first reply to a received message has, whenever it is made; null: later replies are not looked for. */
  replyId: ((deviceId: number, inboxId: number) => string) | null;
  /** What is known of files that were sent, by their ids; those that are not kept any more are missing. */
  fileFacts(ids: string[]): Promise<Map<string, { mimetype: string; size: number }>>;
}
