import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { isForBaileys } from "../../model/mixed-ways.ts";
import type { OnWay, OtherWay } from "./classify.ts";

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
export function acknowledgeReceipts({ ws, sendNode }: Pick<WASocket, "ws" | "sendNode">, onWay: OnWay): void {
  const [handle, ...others] = ws.listeners("CB:receipt") as ((node: BinaryNode) => void)[];
  if (handle === undefined || others.length > 0)
    throw new Error("Baileys handles receipts differently from the pinned release. Run npm ci again.");
  ws.off("CB:receipt", handle);
  ws.on("CB:receipt", (node: BinaryNode) => {
    if (isForBaileys()) return handle(node);
    const reason = otherWay(node);
    onWay("receipt", reason);
    if (reason !== null) return handle(node);
    // WhatsApp repeats what was not acknowledged, on the next connection.
    void sendNode(ackOf(node)).catch(() => undefined);
  });
}

function otherWay({ attrs }: BinaryNode): OtherWay | null {
  if (attrs.offline !== undefined) return "waited";
  if (attrs.type === "retry") return "retry";
  return EVERYDAY.has(attrs.type ?? "") && attrs.from && attrs.id ? null : "kind";
}

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
