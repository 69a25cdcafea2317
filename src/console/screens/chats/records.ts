import type { Schemas } from "../../../client/index.ts";

/** A message, as `GET /messages` lists it. */
export type Message = Schemas["Message"];
/** A chat, as `GET /chats` lists it. */
export type Chat = Schemas["Chat"];
/** The way of a message, as `GET /messages/{id}/trace` tells it. */
export type Trace = Schemas["Trace"];
/** One step of it. */
export type TraceStep = Schemas["TraceStep"];
/** The file of a message. */
export type MessageFile = NonNullable<Message["media"]>;
/** One page of a list that grows. */
export interface PageOf<T> {
  data: T[];
  next: string | null;
}

/** Who a conversation is between. */
export interface Place {
  /** The number itself, digits. */
  sender: string;
  /** What `number` of a send accepts. */
  chat: string;
}

/** Tells chats apart, of several numbers. */
export const keyOfChat = ({ sender, chat }: Place): string => `${sender}/${chat}`;
/** Tells messages of a chat apart: two writers may use the same id. */
export const keyOfMessage = ({ id, from, direction }: Message): string => `${direction}/${from}/${id}`;
/** Is it the same writer's? */
export const sameWriter = (a: Message, b: Message): boolean =>
  a.direction === b.direction && a.from === b.from && (a.by ?? "") === (b.by ?? "");
