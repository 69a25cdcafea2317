import type { ContentKind } from "./kind.ts";

/** Only the sender's key for a group. When there is a body as well, the body names the kind. */
export const senderKey: ContentKind = {
  stanzaType: "text",
  read: (message) => (message.senderKeyDistributionMessage ? { kind: "sender_key" } : undefined),
};
