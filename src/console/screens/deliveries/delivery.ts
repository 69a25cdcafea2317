/** A delivery with its last attempts, as `GET /deliveries` shows it. */
export interface Delivery {
  id: string;
  device: string;
  /** Id of the listener that it is for; null: the webhook. */
  listener: string | null;
  message_id: string;
  type: string;
  url: string;
  state: "pending" | "delivered" | "retrying" | "dead" | "disabled";
  attempts: {
    at: string;
    status_code: number | null;
    duration_ms: number;
    error: string | null;
    answer: string | null;
  }[];
  next_at: string | null;
  reply: { understood: boolean; ignored: string[]; ids: string[] } | null;
}

/** Every state of a delivery. */
export const STATES = ["pending", "retrying", "delivered", "dead", "disabled"] as const;
