import type { BinaryNode } from "@whiskeysockets/baileys";

/** How the wait for a server's ack ended. */
export type Ack =
  | { kind: "accepted"; participantHash: string | null }
  | { kind: "refused"; code: number }
  | { kind: "timeout" }
  | { kind: "closed" };

export interface Acks {
  /** Starts waiting; call before the message is written. `cancel` ends the wait without a result. */
  expect(id: string, timeoutMs: number): { result: Promise<Ack>; cancel(): void };
  note(node: BinaryNode): void;
  /** Ends every wait: the connection is gone. */
  fail(): void;
}

/**
 * Waits for acks by message id. A receipt of the message says as much as an ack does: the server has taken it, however
 * late the ack comes.
 */
export function createAcks(): Acks {
  const waits = new Map<string, (ack: Ack) => void>();
  return {
    expect(id, timeoutMs) {
      let settle!: (ack: Ack) => void;
      const result = new Promise<Ack>((resolve) => (settle = resolve));
      const end = (ack: Ack): void => {
        clearTimeout(timer);
        if (waits.get(id) === end) waits.delete(id);
        settle(ack);
      };
      const timer = setTimeout(() => end({ kind: "timeout" }), timeoutMs);
      // The same id sent twice at once: whoever waits already learns nothing new.
      waits.get(id)?.({ kind: "timeout" });
      waits.set(id, end);
      return { result, cancel: () => end({ kind: "timeout" }) };
    },
    note({ tag, attrs }) {
      const end = waits.get(attrs.id ?? "");
      if (end === undefined) return;
      if (tag === "ack" && attrs.error) end({ kind: "refused", code: Number(attrs.error) || 0 });
      else end({ kind: "accepted", participantHash: (tag === "ack" && attrs.phash) || null });
    },
    fail() {
      for (const end of waits.values()) end({ kind: "closed" });
    },
  };
}
