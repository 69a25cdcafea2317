import type { proto } from "@whiskeysockets/baileys";
import type { ForwardDraft } from "../../model/content/drafts.ts";
import { baileys } from "../baileys.ts";

/** The file of a message that came, with nothing else of it: what it quoted, and whom it mentioned, was said elsewhere. */
export function forwardToWhatsApp(
  { raw }: ForwardDraft,
  contextInfo: proto.IContextInfo | null,
): proto.IMessage {
  const message = baileys.normalizeMessageContent(baileys.proto.Message.decode(Buffer.from(raw, "base64")));
  const field = baileys.getContentType(message ?? undefined);
  if (!message || field === undefined) throw new TypeError("The message to hand on holds nothing.");
  const { contextInfo: _, ...content } = (message as Record<string, object>)[field] as {
    contextInfo?: unknown;
  };
  return { [field]: { ...content, ...(contextInfo !== null && { contextInfo }) } };
}
