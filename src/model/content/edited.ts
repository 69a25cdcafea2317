import type { Draft, EditDraft } from "./drafts.ts";

/** What an edit calls a message of this kind; null: it has no text that could be another one. */
export function editedAs(kind: string): EditDraft["of"] | null {
  return kind === "text" || kind === "image" || kind === "video" || kind === "document" ? kind : null;
}

/** The draft with another text or caption; null for what has none. */
export function withText(draft: Draft, text: string): Draft | null {
  if (draft.kind === "text") return { ...draft, text };
  return draft.kind === "image" || draft.kind === "video" || draft.kind === "document"
    ? { ...draft, caption: text }
    : null;
}
