import type { ContentKind } from "./kind.ts";

/** Messages between devices, without a body. Edits and revokes come before it in the list. */
export const protocol: ContentKind = {
  stanzaType: "text",
  read: (message) => (message.protocolMessage ? { kind: "protocol" } : undefined),
};
