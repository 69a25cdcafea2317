import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { ContentKind } from "./kind.ts";

const { MESSAGE_EDIT, REVOKE } = proto.Message.ProtocolMessage.Type;

/** The new text of one's own message, in the wrapper that phones put around it. */
export function composeEdit(key: proto.IMessageKey, text: string, now: number): proto.IMessage {
  const protocolMessage = {
    key,
    type: MESSAGE_EDIT,
    editedMessage: { conversation: text },
    timestampMs: now,
  };
  return { editedMessage: { message: { protocolMessage } } };
}

/** `protocolMessage` of type MESSAGE_EDIT. */
export const edit: ContentKind = {
  stanzaType: "text",
  read({ protocolMessage }) {
    if (protocolMessage?.type !== MESSAGE_EDIT) return undefined;
    const { conversation, extendedTextMessage, imageMessage, videoMessage, documentMessage } =
      protocolMessage.editedMessage ?? {};
    const caption = imageMessage?.caption ?? videoMessage?.caption ?? documentMessage?.caption;
    return {
      kind: "edit",
      text: conversation ?? extendedTextMessage?.text ?? caption ?? undefined,
      target: protocolMessage.key?.id ?? undefined,
    };
  },
  envelope: () => ({ attrs: { edit: "1" } }),
};

/** Deletes a message for everyone: one's own, or in a group, as an admin, anyone's. */
export function composeRevoke(key: proto.IMessageKey): proto.IMessage {
  return { protocolMessage: { key, type: REVOKE } };
}

/** `protocolMessage` of type REVOKE. */
export const revoke: ContentKind = {
  stanzaType: "text",
  read({ protocolMessage }) {
    // REVOKE is the enumeration's zero: a decoded message without a type means it as well.
    if (!protocolMessage?.key?.id || (protocolMessage.type ?? REVOKE) !== REVOKE) return undefined;
    return { kind: "revoke", target: protocolMessage.key.id };
  },
  envelope: ({ protocolMessage }) => ({ attrs: { edit: protocolMessage?.key?.fromMe ? "7" : "8" } }),
};
