import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import type { OwnIds } from "../addresses.ts";
import type { AcknowledgedEvent, ConnectionListener } from "../port.ts";
import { readOwnReading, readReceipts } from "./receipts.ts";

/** Who is told of receipts, and what telling takes. */
interface ReceiptDeps {
  own(): OwnIds;
  /** Unix milliseconds. */
  now(): number;
  listener: Pick<ConnectionListener, "store">;
}

/**
 * Keeps receipts from whoever acknowledges them until what they say is stored. WhatsApp tells again, on the next connection, what
 * could not be: otherwise a crash would leave a message without its tick for ever.
 *
 * Call it before anybody else listens to receipts.
 *
 * @throws when somebody does
 */
export function acknowledgeWhenStored({ ws }: Pick<WASocket, "ws">, deps: ReceiptDeps): void {
  const [acknowledge, ...others] = ws.listeners("CB:receipt") as ((node: BinaryNode) => void)[];
  if (acknowledge === undefined || others.length > 0)
    throw new Error("Receipts are listened to before it is decided when they are acknowledged.");
  ws.off("CB:receipt", acknowledge);
  ws.on("CB:receipt", (node: BinaryNode) => {
    const [own, now] = [deps.own(), deps.now()];
    const reading = readOwnReading(node, own, now);
    const receipts = readReceipts(node, own, now);
    if (reading === null && receipts.length === 0) return acknowledge(node);
    const event: AcknowledgedEvent =
      reading === null ? { type: "receipts", receipts } : { type: "read", reading };
    deps.listener.store(event).then(
      () => acknowledge(node),
      () => undefined,
    );
  });
}
