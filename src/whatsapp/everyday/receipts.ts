import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";

/** Receipts that ask for nothing but their ack. The others want a message again, or come from a queue that waited. */
const EVERYDAY = new Set(["", "inactive", "read", "played", "sender", "read-self", "played-self"]);

/**
 * Acknowledges everyday receipts; who waits for what they say has heard them before. Baileys would buffer events for
 * nobody, and handle one after the other.
 *
 * Call it on a new socket, before anybody else listens.
 *
 * @throws when Baileys is not the release that this was written for
 */
export function acknowledgeReceipts({ ws, sendNode }: Pick<WASocket, "ws" | "sendNode">): void {
  const [handle, ...others] = ws.listeners("CB:receipt") as ((node: BinaryNode) => void)[];
  if (handle === undefined || others.length > 0)
    throw new Error("Baileys handles receipts in another way than the pinned release. Run npm ci again.");
  ws.off("CB:receipt", handle);
  ws.on("CB:receipt", (node: BinaryNode) => {
    if (!isEveryday(node)) return handle(node);
    // WhatsApp repeats what was not acknowledged, on the next connection.
    void sendNode(ackOf(node)).catch(() => undefined);
  });
}

const isEveryday = ({ attrs }: BinaryNode): boolean =>
  attrs.offline === undefined && EVERYDAY.has(attrs.type ?? "") && Boolean(attrs.from && attrs.id);

/** What Baileys' `buildAckStanza` makes of a receipt. */
function ackOf({ attrs }: BinaryNode): BinaryNode {
  const { id = "", from = "", participant, recipient, type } = attrs;
  return {
    tag: "ack",
    attrs: {
      id,
      to: from,
      class: "receipt",
      ...(participant && { participant }),
      ...(recipient && { recipient }),
      ...(type && { type }),
    },
  };
}
