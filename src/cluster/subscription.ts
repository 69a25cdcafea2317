import type { Redis, RedisOptions } from "ioredis";
import type { Logger } from "../log.ts";
import { SECOND_MS, type Cancel, type Time } from "../model/time.ts";

interface SubscriptionDeps {
  connect(options?: RedisOptions): Redis;
  channels: string[];
  time: Pick<Time, "after" | "every">;
  log: Logger;
  heard(bytes: Buffer, channel: string): void;
  /** It hears from now on, for the first time or again. */
  began(): void;
}

/** Hears what is published, over every outage. */
export interface Subscription {
  /** Resolves when it hears for the first time. */
  start(): Promise<void>;
  stop(): void;
}

const HEARTBEAT_MS = 5 * SECOND_MS;
const AGAIN_MS = 5 * SECOND_MS;

/**
 * A connection that only listens would not notice that nobody speaks to it any more, so it asks for a sign of life; without
 * one it is closed and opened again (`socketTimeout`).
 */
export function createSubscription(deps: SubscriptionDeps): Subscription {
  const { connect, channels, time, log, heard, began } = deps;
  let connection: Redis | null = null;
  const cancels = new Set<Cancel>();

  function subscribe(subscriber: Redis, done: () => void): void {
    subscriber.subscribe(...channels).then(
      () => {
        began();
        done();
      },
      (error: unknown) => {
        // A connection that is lost says so itself, and comes back by itself.
        if (subscriber.status !== "ready") return;
        log.warn({ err: error }, "Redis does not let this node subscribe to the others; trying again");
        cancels.add(time.after(AGAIN_MS, () => subscribe(subscriber, done)));
      },
    );
  }

  return {
    start: () =>
      new Promise((resolve) => {
        const subscriber = connect({ autoResubscribe: false });
        connection = subscriber;
        subscriber.on("messageBuffer", (channel: Buffer, bytes: Buffer) => heard(bytes, channel.toString()));
        subscriber.on("ready", () => subscribe(subscriber, resolve));
        cancels.add(
          time.every(HEARTBEAT_MS, () => {
            if (subscriber.status === "ready") subscriber.ping().catch(() => undefined);
          }),
        );
      }),
    stop() {
      for (const cancel of cancels) cancel();
      connection?.disconnect();
    },
  };
}
