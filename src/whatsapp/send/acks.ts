import type { BinaryNode } from "@whiskeysockets/baileys";
import type { Time } from "../../model/time.ts";

/** How the wait for a server's ack ended. */
export type Ack =
  | ({ kind: "accepted"; participantHash: string | null } & Addressed)
  | ({ kind: "refused"; code: number } & Addressed)
  | { kind: "timeout" }
  | { kind: "closed" };

/** By which kind of address the group goes, when the server says so. */
interface Addressed {
  addressing?: "lid" | "pn";
}

/** One wait for an ack. */
interface AckWait {
  result: Promise<Ack>;
  /** The message is written: from now on the time counts. */
  written(timeoutMs: number): void;
  /** Ends the wait: the message is not written. */
  cancel(): void;
}

/** The waits for acks on one connection. */
export interface Acks {
  /** Starts waiting; call it before the message is written, so that no ack is missed. */
  expect(id: string): AckWait;
  note(node: BinaryNode): void;
  /** Ends every wait: the connection is gone. */
  fail(): void;
}

/**
 * Waits for acks by message id. A receipt of the message says as much as an ack does: the server has taken it, however
 * late the ack comes.
 */
export function createAcks(time: Time): Acks {
  const waits = new Map<string, (ack: Ack) => void>();
  return {
    expect(id) {
      let settle!: (ack: Ack) => void;
      let cancelTimer: (() => void) | null = null;
      const result = new Promise<Ack>((resolve) => (settle = resolve));
      const end = (ack: Ack): void => {
        cancelTimer?.();
        if (waits.get(id) === end) waits.delete(id);
        settle(ack);
      };
      // The same id sent twice at once: whoever waits already learns nothing new.
      waits.get(id)?.({ kind: "timeout" });
      waits.set(id, end);
      return {
        result,
        written(timeoutMs) {
          if (waits.get(id) === end) cancelTimer = time.after(timeoutMs, () => end({ kind: "timeout" }));
        },
        cancel: () => end({ kind: "timeout" }),
      };
    },
    note({ tag, attrs }) {
      const end = waits.get(attrs.id ?? "");
      if (end === undefined) return;
      const { addressing_mode: mode } = attrs;
      const addressed: Addressed = mode === "lid" || mode === "pn" ? { addressing: mode } : {};
      if (tag === "ack" && attrs.error)
        end({ kind: "refused", code: Number(attrs.error) || 0, ...addressed });
      else end({ kind: "accepted", participantHash: (tag === "ack" && attrs.phash) || null, ...addressed });
    },
    fail() {
      for (const end of waits.values()) end({ kind: "closed" });
    },
  };
}
