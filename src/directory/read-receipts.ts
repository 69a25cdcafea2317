import { defineQuestion, type Cluster } from "../model/nodes/cluster.ts";
import { SECOND_MS } from "../model/time.ts";
import type { ReadMessage, WhatsAppConnection } from "../whatsapp/port.ts";
import { connected } from "./connected.ts";

export type { ReadMessage } from "../whatsapp/port.ts";

/** Tells writers that their messages were read. */
export interface ReadReceipts {
  /** Nothing is stored. @throws UNAVAILABLE while the number is not connected */
  send(deviceId: number, messages: readonly ReadMessage[]): Promise<null>;
}

interface ReadReceiptsDeps {
  cluster: Cluster;
  /** Null unless the number is open. */
  connection: (deviceId: number) => Pick<WhatsAppConnection, "markRead"> | null;
}

const SEND = defineQuestion<readonly ReadMessage[], null>("directory.read-receipts", 8 * SECOND_MS);

/** Whichever node is asked, the number's own one sends them. */
export function createReadReceipts({ cluster: { bus }, connection }: ReadReceiptsDeps): ReadReceipts {
  bus.answer(SEND, async (deviceId, messages) => {
    await connected(connection(deviceId)).markRead(messages);
    return null;
  });
  return { send: (deviceId, messages) => bus.ask(SEND, deviceId, messages) };
}
