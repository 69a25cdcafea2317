import type { Incoming } from "../messages.ts";
import { isAction, type ContentDraft, type Draft } from "./drafts.ts";

/**
 * What somebody else gets when a message is handed on: without what it quoted, whom it mentioned, and how it was sent.
 *
 * @param came the message as it came; null: it was sent from here
 * @param sent what was sent; null: it is not known any more
 * @returns null: nothing that can be handed on
 */
export function handedOn(came: Incoming | null, sent: Draft | null): ContentDraft | null {
  if (came !== null) return ofIncoming(came);
  if (sent === null || isAction(sent) || sent.viewOnce) return null;
  return bare(sent);
}

function bare(draft: ContentDraft): ContentDraft {
  switch (draft.kind) {
    case "text":
      return { kind: "text", text: draft.text };
    case "poll": {
      const { kind, name, options, selectable } = draft;
      return { kind, name, options, selectable };
    }
    case "location": {
      const { kind, latitude, longitude, name, address } = draft;
      return { kind, latitude, longitude, ...(name && { name }), ...(address && { address }) };
    }
    case "contact":
      return { kind: "contact", contacts: draft.contacts };
    default: {
      const { caption, fileName } = draft;
      const words = { ...(caption && { caption }), ...(fileName && { fileName }) };
      if (draft.kind === "forward") {
        const { of, raw, from } = draft;
        return { kind: "forward", of, raw, ...(from && { from }), ...words };
      }
      return { kind: draft.kind, file: draft.file, ...words };
    }
  }
}

function ofIncoming(message: Incoming): ContentDraft | null {
  const { type, text, location, contacts, poll, media, raw } = message;
  if (message.viewOnce) return null;
  if (media) {
    const { kind: of, fileName } = media;
    const { id, chat, chatKey, sender, participant, fromMe } = message;
    const from = { id, chat, chatKey, sender, participant, fromMe };
    return { kind: "forward", of, raw, from, ...(text && { caption: text }), ...(fileName && { fileName }) };
  }
  if (type === "text") return { kind: "text", text };
  if (type === "location" && location !== null) {
    const { name, address, ...place } = location;
    return { kind: "location", ...place, ...(name && { name }), ...(address && { address }) };
  }
  if (type === "contact" && contacts !== null) return { kind: "contact", contacts };
  if (type !== "poll" || poll?.name == null) return null;
  // How many may be chosen is not kept of polls that came.
  return { kind: "poll", name: poll.name, options: poll.options, selectable: 0 };
}
