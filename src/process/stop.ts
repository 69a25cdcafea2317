import { failpoint } from "../model/failpoint.ts";
import type { Time } from "../model/time.ts";

// A stop takes at most the sum of these, 21 seconds. What is cut off is asked or sent again at the next start.
/** For handlers and webhooks that are under way. */
const GRACE_MS = 5_000;
/** For requests, counted from the same moment. */
const REQUESTS_MS = 8_000;
/** For acks of what is being sent. */
const SENDING_MS = 5_000;
/** For connections that close, and for what they still bring. */
const CONNECTIONS_MS = 6_000;
/** For what then knows its outcome to be written down. */
const OUTCOMES_MS = 1_000;

/** What a stop ends, in this order. */
export interface Stoppable {
  time: Time;
  /** Cuts off handlers and downloads. */
  stopping: AbortController;
  path: { drain(graceMs: number): Promise<void>; sent(): Promise<void> };
  /** What works in the background and can be left in the middle. */
  background: { stop(): Promise<void> }[];
  numbers: { stop(): Promise<void> };
  /** What is closed when nobody uses it any more, one after the other. */
  rest: (() => unknown)[];
}

/**
 * Ends what is under way, closes connections and the database. Resolves when nothing is left to lose.
 *
 * @param requests resolves when the requests under way are answered; waited for, but not for ever
 */
export async function stopInOrder(parts: Stoppable, requests: Promise<void>): Promise<void> {
  const { time, stopping, path, background, numbers, rest } = parts;
  const cut = (): void => stopping.abort(new Error("The gateway is stopping."));
  const cancel = time.after(GRACE_MS, cut);
  const ended = Promise.all([path.drain(GRACE_MS), time.within(REQUESTS_MS, requests)]);
  failpoint("in-drain");
  await ended;
  cancel();
  cut();
  const sent = path.sent();
  await time.within(SENDING_MS, Promise.all([sent, ...background.map((part) => part.stop())]));
  await time.within(CONNECTIONS_MS, numbers.stop());
  // An attempt whose connection is gone has its outcome: not known.
  await time.within(OUTCOMES_MS, sent);
  for (const close of rest) await close();
}
