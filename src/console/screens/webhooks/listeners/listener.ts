import type { Schemas } from "../../../../client/index.ts";
import { listed } from "../../../data/index.ts";
import { EVENTS, headersIn, headersOf, type Header } from "../webhook.ts";

/** A listener as `GET /devices/{number}/webhooks` lists it. */
export type Listener = Schemas["Listener"];

/** As many as a number may have. */
export const MOST = 5;

/** What is being filled in: lists as text, a line for each. */
export interface ListenerDraft {
  url: string;
  enabled: boolean;
  events: string[];
  chats: string;
  bots: string;
  headers: Header[];
}

/** @param listener null: a new one, with the defaults */
export const draftOf = (listener: Listener | null): ListenerDraft => ({
  url: listener?.url ?? "",
  enabled: listener?.enabled ?? true,
  events: listener?.events ?? ["message", "poll_vote"],
  chats: listener?.chats?.join("\n") ?? "",
  bots: listener?.bots?.join("\n") ?? "",
  headers: headersOf(listener?.headers ?? {}),
});

/** What POST and PATCH are given. */
export const bodyOf = (draft: ListenerDraft) => ({
  url: draft.url.trim(),
  enabled: draft.enabled,
  events: EVENTS.filter((event) => draft.events.includes(event)),
  chats: listed(draft.chats),
  bots: listed(draft.bots),
  headers: headersIn(draft.headers),
});
