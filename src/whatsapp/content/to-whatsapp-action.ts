import type { proto } from "@whiskeysockets/baileys";
import type { ActionDraft, EditDraft, MessageTarget } from "../../model/content/drafts.ts";
import { baileys } from "../baileys.ts";

/** The protobuf of what is done to another message. Edits stand in the wrapper that phones put around them. */
export function actionToWhatsApp(draft: ActionDraft): proto.IMessage {
  const { MESSAGE_EDIT, REVOKE } = baileys.proto.Message.ProtocolMessage.Type;
  const key = keyOf(draft.target);
  switch (draft.kind) {
    case "reaction":
      return { reactionMessage: { key, text: draft.emoji, senderTimestampMs: draft.at } };
    case "revoke":
      return { protocolMessage: { key, type: REVOKE } };
    case "edit": {
      const edit = { key, type: MESSAGE_EDIT, editedMessage: edited(draft), timestampMs: draft.at };
      return { editedMessage: { message: { protocolMessage: edit } } };
    }
  }
}

function keyOf({ id, chat, fromMe, participant }: MessageTarget): proto.IMessageKey {
  return { remoteJid: chat, id, fromMe, ...(participant !== null && { participant }) };
}

function edited({ of, text }: EditDraft): proto.IMessage {
  switch (of) {
    case "text":
      return { conversation: text };
    case "image":
      return { imageMessage: { caption: text } };
    case "video":
      return { videoMessage: { caption: text } };
    case "document":
      return { documentMessage: { caption: text } };
  }
}
