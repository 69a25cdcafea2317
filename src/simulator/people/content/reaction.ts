import type { proto } from "@whiskeysockets/baileys";
import type { ContentKind } from "./kind.ts";

/** @param emoji  `""` takes an earlier reaction back */
export function composeReaction(key: proto.IMessageKey, emoji: string, now: number): proto.IMessage {
  return { reactionMessage: { key, text: emoji, senderTimestampMs: now } };
}

/** `reactionMessage`. */
export const reaction: ContentKind = {
  stanzaType: "reaction",
  read({ reactionMessage }) {
    if (!reactionMessage) return undefined;
    return {
      kind: "reaction",
      text: reactionMessage.text ?? "",
      target: reactionMessage.key?.id ?? undefined,
    };
  },
};
