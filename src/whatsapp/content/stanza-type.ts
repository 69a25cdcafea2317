import { hasFile, kindOf, type Draft } from "../../model/content/drafts.ts";

/** What a message's stanza calls its content. */
export function stanzaTypeOf(draft: Draft): "text" | "reaction" | "poll" | "media" {
  if (mediaTypeOf(draft) !== null) return "media";
  return draft.kind === "reaction" || draft.kind === "poll" ? draft.kind : "text";
}

/** What a stanza says that changes another message, in the service's words; null for all others. Source: whatsmeow `EditAttribute`. */
export function editOf(draft: Draft): "1" | "7" | "8" | null {
  if (draft.kind === "edit") return "1";
  if (draft.kind !== "revoke") return null;
  return draft.target.fromMe ? "7" : "8";
}

/** What kind of file or card it has, in the service's words; null for none. A place has none. */
export function mediaTypeOf(draft: Draft): string | null {
  if (draft.kind === "contact") return draft.contacts.length === 1 ? "vcard" : "contact_array";
  if (!hasFile(draft) && draft.kind !== "forward") return null;
  const kind = kindOf(draft);
  return kind === "voice" ? "ptt" : kind;
}
