import type { ContentKind } from "./kind.ts";

/** Messages between devices: no body of their own. Edits and revokes come before it in the list. */
export const protocol: ContentKind = {
  stanzaType: "text",
  read: (message) => (message.protocolMessage ? { kind: "protocol" } : undefined),
};
