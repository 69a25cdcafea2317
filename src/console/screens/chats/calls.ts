import type { Call } from "../../data/index.ts";
import type { Message, Place } from "./records.ts";

/** Of chats and of messages that are asked for at a time. */
export const PAGE = 50;

/** Chats of one number or all, newest first. */
export const chatsCall = (
  filter: { sender?: string; q?: string; unanswered?: boolean },
  before: string | null,
): Call => ({
  method: "GET",
  path: "/chats",
  query: {
    sender: filter.sender || null,
    q: filter.q || null,
    unanswered: filter.unanswered ? 1 : null,
    limit: PAGE,
    before,
  },
});

/** One chat alone. */
export const chatCall = ({ sender, chat }: Place): Call => ({
  method: "GET",
  path: "/chats",
  query: { sender, chat, limit: 1 },
});

/** Messages of a chat, newest first. */
export const messagesCall = (
  { sender, chat }: Place,
  range: { before?: string | null; since?: string | null; q?: string | null; limit?: number } = {},
): Call => ({ method: "GET", path: "/messages", query: { sender, chat, limit: PAGE, ...range } });

/** The way of a message. */
export const traceCall = (sender: string, id: string): Call => ({
  method: "GET",
  path: `/messages/${encodeURIComponent(id)}/trace`,
  query: { sender },
});

/** What became of a message that was sent: its error, and the votes of a poll. */
export const sentCall = (id: string): Call => ({
  method: "GET",
  path: `/messages/${encodeURIComponent(id)}`,
});

const callOf = ({ id }: Message): string => `/messages/${encodeURIComponent(id)}`;

/** Reacts to a message. @param emoji "" takes the reaction back */
export const reactCall = (message: Message, emoji: string): Call => ({
  method: "POST",
  path: `${callOf(message)}/reaction`,
  body: { sender: message.sender, emoji },
});

/** Another text or caption. */
export const editCall = (message: Message, text: string): Call => ({
  method: "PATCH",
  path: callOf(message),
  body: { sender: message.sender, message: text },
});

/** Handed on to another chat, marked as forwarded. @param number what `number` of a send accepts */
export const forwardCall = (message: Message, number: string): Call => ({
  method: "POST",
  path: `${callOf(message)}/forward`,
  body: { sender: message.sender, number },
});

/** Taken back for everyone. */
export const deleteCall = (message: Message): Call => ({
  method: "DELETE",
  path: callOf(message),
  query: { sender: message.sender },
});

/** Somebody looks at the chat. Its writers are not told: it may be one of many who look. */
export const readCall = ({ sender, chat }: Place): Call => ({
  method: "POST",
  path: `/chats/${encodeURIComponent(chat)}/read`,
  body: { sender, receipts: false },
});

/** Bots pause in the chat. @param minutes default is the gateway's */
export const takeOverCall = ({ sender, chat }: Place, minutes?: number): Call => ({
  method: "POST",
  path: `/chats/${encodeURIComponent(chat)}/takeover`,
  body: { sender, ...(minutes !== undefined && { minutes }) },
});

/** Bots go on in the chat. */
export const handBackCall = ({ sender, chat }: Place): Call => ({
  method: "DELETE",
  path: `/chats/${encodeURIComponent(chat)}/takeover`,
  query: { sender },
});

/** What a person writes: one of the sends, as it stands in the request's body. */
export type Written = {
  msgid?: string;
  send_at?: string;
  mentions?: string[];
  mention_all?: boolean;
} & Content;

type Content =
  | { kind: "text"; message: string }
  | {
      kind: "file";
      media_type: string;
      url: string;
      caption?: string;
      ptt?: string;
      filename?: string;
      /** What it is called on the screen, where its address says nothing; not sent. */
      shown?: string;
    }
  | { kind: "poll"; name: string; option: string[]; countable: "0" | "1" }
  | { kind: "location"; latitude: number; longitude: number; name?: string; address?: string }
  | { kind: "contact"; contacts: { name: string; numbers: string[]; organization?: string }[] };

const PATHS = {
  text: "/send-message",
  file: "/send-media",
  poll: "/send-poll",
  location: "/send-location",
  contact: "/send-contact",
} as const;

/** @param idempotencyKey one for all tries: however often it is sent, it arrives once */
export function sendCall({ sender, chat }: Place, written: Written, idempotencyKey: string): Call {
  const { kind, shown: _, ...fields } = { shown: "", ...written };
  const body = { sender, number: chat, ...fields, idempotency_key: idempotencyKey };
  return { method: "POST", path: PATHS[kind], body };
}
