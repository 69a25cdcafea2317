import type { BinaryNode, proto } from "@whiskeysockets/baileys";
import type { PollDraft } from "../../model/content/drafts.ts";

/** What WhatsApp wants beside the content of a new poll. */
export const POLL_META: BinaryNode = { tag: "meta", attrs: { polltype: "creation" } };

/**
 * The content of a poll. WhatsApp has a field of its own for polls with one answer, and for those in a community's
 * announcement group.
 *
 * @param contextInfo what it quotes
 */
export function pollToWhatsApp(
  { name, options, selectable }: PollDraft,
  inAnnouncements: boolean,
  contextInfo: proto.IContextInfo | null,
): proto.IMessage {
  const creation: proto.Message.IPollCreationMessage = {
    name,
    selectableOptionsCount: selectable,
    options: options.map((optionName) => ({ optionName })),
    ...(contextInfo && { contextInfo }),
  };
  if (inAnnouncements) return { pollCreationMessageV2: creation };
  return selectable === 1 ? { pollCreationMessageV3: creation } : { pollCreationMessage: creation };
}
