import type { ContentKind } from "./kind.ts";

/** Nothing but the sender's key for a group. With a body beside it, the body names the kind. */
export const senderKey: ContentKind = {
  stanzaType: "text",
  read: (message) => (message.senderKeyDistributionMessage ? { kind: "sender_key" } : undefined),
};
