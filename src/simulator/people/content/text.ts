import type { proto } from "@whiskeysockets/baileys";
import { contextOf, readContext } from "./context.ts";
import type { Extras } from "./context.ts";
import type { ContentKind } from "./kind.ts";

/** A text message as a phone writes it: a bare conversation, or the long form when something is attached. */
export function composeText(text: string, extras: Extras = {}): proto.IMessage {
  const contextInfo = contextOf(extras);
  return contextInfo ? { extendedTextMessage: { text, contextInfo } } : { conversation: text };
}

/** `conversation` and `extendedTextMessage`. */
export const text: ContentKind = {
  stanzaType: "text",
  read(message) {
    const words = message.conversation ?? message.extendedTextMessage?.text;
    if (words == null) return undefined;
    const body = { kind: "text", ...readContext(message.extendedTextMessage?.contextInfo) };
    return words === "" ? body : { ...body, text: words };
  },
};
