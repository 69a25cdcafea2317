import type { SenderKeyState } from "@whiskeysockets/baileys/lib/Signal/Group/sender-key-state.js";

/** What JSON makes of a Buffer. */
interface JsonBuffer {
  data: number[] | string;
}

/**
 * Lets group messages be read out of order. The keys of skipped messages are stored as JSON, and Baileys (7.0.0-rc14) takes
 * them from there as plain objects: whoever wrote the earlier message would have to send it again.
 */
export function reviveSkippedSenderKeys({ prototype }: { prototype: SenderKeyState }): void {
  const remove = prototype.removeSenderMessageKey;
  prototype.removeSenderMessageKey = function (iteration) {
    for (const key of this.getStructure().senderMessageKeys)
      if (key.iteration === iteration) key.seed = toBytes(key.seed);
    return remove.call(this, iteration);
  };
}

function toBytes(seed: Uint8Array | JsonBuffer): Uint8Array {
  if (seed instanceof Uint8Array) return seed;
  return typeof seed.data === "string" ? Buffer.from(seed.data, "base64") : Buffer.from(seed.data);
}
