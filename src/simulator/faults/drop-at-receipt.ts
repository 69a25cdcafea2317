import type { BinaryNode } from "../wire/nodes.ts";
import { Armed, isTarget } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** A receipt that acknowledges delivery, rather than a retry or read receipt. */
const isDelivery = (node: BinaryNode): boolean =>
  node.tag === "receipt" &&
  !["retry", "read", "read-self", "played", "hist_sync"].includes(node.attrs.type ?? "");

/** Cuts the connection just before or just after a receipt: the message is redelivered, or is not. */
export function dropAtReceipt({
  hooks,
}: Pick<FaultNeeds, "hooks">): FaultKit<"dropBeforeReceipt" | "dropAfterReceipt"> {
  const armed = new Armed();
  return {
    methods: {
      async dropBeforeReceipt({ nth = 1, ...target }) {
        let left = nth;
        const disarm = armed.arm(hooks.received, (connection, node) => {
          if (!isTarget(target, connection.device) || !isDelivery(node)) return false;
          if ((left -= 1) > 0) return false;
          disarm();
          connection.cut();
          return true;
        });
      },
      async dropAfterReceipt({ nth = 1, ...target }) {
        let left = nth;
        const disarm = armed.arm(hooks.handled, (connection, node) => {
          if (!isTarget(target, connection.device) || !isDelivery(node) || (left -= 1) > 0) return;
          disarm();
          connection.cut();
        });
      },
    },
    clear: () => armed.clear(),
  };
}
