/** What `GET /events` may tell of, in the words of its `event:` lines. */
const EVENT_NAMES = [
  "device",
  "message.in",
  "message.out",
  "read",
  "decision",
  "delivery",
  "webhook",
  "group",
  "presence",
  "contact",
] as const;
/** One of {@link EVENT_NAMES}. */
export type EventName = (typeof EVENT_NAMES)[number];

/** Something that happened to a number of an account. */
export interface AccountEvent {
  /** Rises from event to event of an account, over restarts too. */
  id: number;
  name: EventName;
  /** The linked number it happened to, digits. */
  number: string;
  /** One record, as the part that tells of it knows it. */
  record: unknown;
}

/** One listener's place in the events of an account. */
export interface EventReader {
  /**
   * The next events after those taken before, at most `most`; none: there are none yet. Null: the reader was so slow
   * that events it has not taken are gone.
   */
  take(most: number): AccountEvent[] | null;
  /** Resolves at the next event, after `ms`, or when the reader is closed. */
  wait(ms: number): Promise<void>;
  /** True when events that it has not taken are gone. */
  isBehind(): boolean;
  close(): void;
}
