import { randomBytes } from "node:crypto";
import { nothingSaid, type Incoming } from "../../model/messages.ts";
import { toEvent } from "./payload.ts";

/** A text from the number to itself: it looks like any event and can be taken for no customer's. */
export function sampleEvent(device: string, now: number): ReturnType<typeof toEvent> {
  const sample: Incoming = {
    ...nothingSaid(),
    id: `TEST${randomHex().toUpperCase()}`,
    chat: `${device}@s.whatsapp.net`,
    chatKey: `${device}@s.whatsapp.net`,
    chatKind: "dm",
    sender: `${device}@s.whatsapp.net`,
    number: device,
    lid: null,
    participant: null,
    fromMe: false,
    pushName: "Parley",
    timestamp: Math.floor(now / 1000),
    type: "text",
    text: "This is a test of your webhook.",
  };
  return toEvent(sample, device, null);
}

/** 16 digits. */
export function randomHex(): string {
  return randomBytes(8).toString("hex");
}
