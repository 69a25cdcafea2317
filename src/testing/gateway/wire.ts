import { isDeepStrictEqual } from "node:util";
import type { Draft } from "../../model/content/drafts.ts";
import type { Incoming } from "../../model/messages.ts";
import type { ReceivedFile } from "../../bot/types.ts";
import type { OutgoingMessage, WhatsAppConnection } from "../../whatsapp/port.ts";
import type { GatewayLife } from "./life.ts";
import { never } from "./life.ts";

/** A message that reached WhatsApp. */
export interface Sent {
  id: string;
  jid: string;
  draft: Draft;
}

/** WhatsApp's side: it outlives every run, and takes a message of one id once. */
export interface Wire {
  /** In the order in which they arrived. */
  readonly sent: readonly Sent[];
  /** What contacts have sent and no run has stored yet, oldest first. */
  readonly waiting: readonly Incoming[][];
  /** Files of incoming messages, by message id. */
  files: Map<string, ReceivedFile>;
  newId(): string;
  offer(messages: Incoming[]): void;
  /** These were stored: they are not handed over again. */
  acknowledge(messages: Incoming[]): void;
  connection(life: GatewayLife): WhatsAppConnection;
}

/** @param onSent told of each message that arrives for the first time */
export function createWire(onSent: (sent: Sent) => void): Wire {
  const sent: Sent[] = [];
  const byId = new Map<string, Sent>();
  let waiting: Incoming[][] = [];
  let ids = 0;

  function take({ waId, jid, draft }: OutgoingMessage): void {
    const known = byId.get(waId);
    if (known !== undefined) {
      if (!isDeepStrictEqual(known.draft, draft))
        throw new Error(`The message ${waId} was sent twice with different contents.`);
      return;
    }
    const message = { id: waId, jid, draft };
    byId.set(waId, message);
    sent.push(message);
    onSent(message);
  }

  return {
    sent,
    get waiting() {
      return waiting;
    },
    files: new Map(),
    newId: () => `IN${String(++ids).padStart(4, "0")}`,
    offer: (messages) => void waiting.push(messages),
    acknowledge: (messages) => void (waiting = waiting.filter((other) => other !== messages)),
    connection: (life) => ({
      async send(message) {
        if (life.over) return never();
        take(message);
        return { kind: "sent" };
      },
      caughtUp: async () => undefined,
      markRead: async () => undefined,
      showState: async () => undefined,
      close: async () => undefined,
      logout: async () => undefined,
      group: unavailable,
      groups: async () => [],
      groupAdmin: NO_GROUPS,
      profile: { read: unavailable, change: unavailable },
      checkNumbers: unavailable,
      contactDetails: unavailable,
      setBlocked: unavailable,
      watchPresence: unavailable,
      goOffline: unavailable,
      changeChat: unavailable,
      setTimer: unavailable,
      channel: async () => null,
      followChannel: unavailable,
      unfollowChannel: unavailable,
      requestPairingCode: unavailable,
      answerPasskey: unavailable,
      confirmPasskey: unavailable,
      mediaHosts: unavailable,
      reuploadMedia: unavailable,
    }),
  };
}

const unavailable = (): Promise<never> => Promise.reject(new Error("A test chat has no WhatsApp."));
const NO_GROUPS: WhatsAppConnection["groupAdmin"] = {
  details: unavailable,
  create: unavailable,
  change: unavailable,
  members: unavailable,
  invite: unavailable,
  join: unavailable,
  leave: unavailable,
  requests: unavailable,
  decide: unavailable,
};
