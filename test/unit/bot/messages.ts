import { loadConfig } from "../../../src/config.ts";
import { createLogger, type Logger } from "../../../src/log.ts";
import type { Incoming } from "../../../src/model/messages.ts";
import type { StoredMessage } from "../../../src/model/answerer.ts";

let lastId = 0;

/** A text from a contact, with what a test wants to be different. */
export function incoming(change: Partial<Incoming> = {}): Incoming {
  lastId += 1;
  return {
    id: `3A${lastId}`,
    chat: "15550001@s.whatsapp.net",
    chatKey: "15550001@s.whatsapp.net",
    chatKind: "dm",
    sender: "15550001@s.whatsapp.net",
    number: "15550001",
    lid: "900@lid",
    participant: null,
    fromMe: false,
    pushName: "Ana",
    timestamp: Math.floor(Date.now() / 1000),
    type: "text",
    text: "hello",
    quoted: null,
    mentions: [],
    location: null,
    contacts: null,
    reaction: null,
    targetId: null,
    raw: "cmF3",
    ...change,
  };
}

export function stored(change: Partial<Incoming> = {}, deviceId = 1): StoredMessage {
  const message = incoming(change);
  return { inboxId: lastId, deviceId, ownNumber: "4930555", message };
}

/** A logger whose finished lines can be read. */
export function listeningLog(): { log: Logger; lines: string[]; text(): string } {
  const lines: string[] = [];
  const log = createLogger(loadConfig({ LOG_LEVEL: "trace" }), { write: (line) => void lines.push(line) });
  return { log, lines, text: () => lines.join("") };
}
