import { hasFile, type Draft } from "../../model/messages.ts";

/** What a message's stanza calls its content. */
export function stanzaTypeOf(draft: Draft): "text" | "reaction" | "poll" | "media" {
  if (hasFile(draft)) return "media";
  return draft.kind === "reaction" || draft.kind === "poll" ? draft.kind : "text";
}

/** What kind of file it has, in the service's words; null for none. */
export function mediaTypeOf(draft: Draft): string | null {
  if (!hasFile(draft)) return null;
  return draft.kind === "voice" ? "ptt" : draft.kind;
}
