/** What happens to webhooks and what is posted to them, told after the commit that made it so. */
export type WebhookEvent =
  /** A delivery is in another state. Those of a message's own decision are told with it. */
  | { type: "delivery"; deviceId: number; id: string }
  /** An attempt has ended. */
  | {
      type: "attempt";
      deviceId: number;
      result: string;
      /** Null when no answer came. */
      statusCode: number | null;
      durationMs: number;
    }
  /** A delivery is given up. */
  | { type: "deliveryDead"; deviceId: number }
  /** Nothing is posted for now, the webhook is used again, or it was switched off. */
  | { type: "webhook"; deviceId: number; to: "paused" | "ok" | "disabled" };
