import type { ContactEvent } from "../directory/contacts/notes.ts";
import type { PresenceEvent } from "../directory/presence-watch.ts";
import type { ReceivedEvent } from "../inbox/inbox.ts";
import type { NumberEvent } from "../numbers/deps.ts";
import type { BlockedEvent } from "../net/safe-fetch.ts";
import type { OutboxEvent } from "../outbox/outbox-event.ts";
import type { DecidedEvent } from "../pipeline/deps.ts";
import type { WebhookEvent } from "../webhooks/webhook-event.ts";
import type { WireEvent } from "../whatsapp/port.ts";
import type { HappenedEvent } from "./happenings.ts";
import type { ReadEvent } from "./reading.ts";

/**
 * Whatever happens to numbers and on the way of a message. Each part says what it tells, beside what tells it; what becomes of
 * rows is told after the commit that made it so.
 */
export type PathEvent =
  | NumberEvent
  | ReceivedEvent
  | DecidedEvent
  | ReadEvent
  | HappenedEvent
  | ContactEvent
  | PresenceEvent
  | OutboxEvent
  | WebhookEvent
  | WireEvent
  | BlockedEvent;

/** What somebody does with events: one function for each type that concerns him. They wait for nothing, and never throw. */
export type Observer = {
  [Type in PathEvent["type"]]?: (event: Extract<PathEvent, { type: Type }>) => void;
};

/** The one channel of events. */
export interface Observers {
  add(observer: Observer): void;
  /** Tells all observers, in the order in which they were added. */
  tell(event: PathEvent): void;
}

/** No observers yet. */
export function createObservers(): Observers {
  const observers: Observer[] = [];
  return {
    add: (observer) => void observers.push(observer),
    tell(event) {
      for (const observer of observers)
        (observer[event.type] as ((event: PathEvent) => void) | undefined)?.(event);
    },
  };
}
