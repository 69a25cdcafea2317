import type { Ended } from "./rows.ts";
import type { ReachoutLock } from "../whatsapp/port.ts";

/** What happens to messages of ours, told after the commit that made it so. */
export type OutboxEvent =
  /** A message was stored, or is in another state. */
  | { type: "message"; deviceId: number; waId: string }
  /** What became of a message is known. */
  | {
      type: "messageEnded";
      deviceId: number;
      /** What kind of draft it was; `unknown` when it cannot be read any more. */
      kind: string;
      result: "sent" | Ended;
      /** Since it was stored. */
      seconds: number;
    }
  /** The number may write to nobody new; null: it may again. */
  | { type: "reachout"; deviceId: number; lock: ReachoutLock | null };
