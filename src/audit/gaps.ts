import type { ConnectionFacts } from "../whatsapp/port.ts";

/** What the counts of a number's connections say. */
interface Gaps {
  /** Messages that WhatsApp said were waiting, that never came, and that it does not keep any more. */
  lost: number;
  /** Messages that it said are waiting on the newest connection and that have not come. */
  awaited: number;
}

/**
 * WhatsApp keeps what was not acknowledged and counts it again on the next connection: what one connection is short of is
 * lost only as far as the next one is not told of it. New messages are in that count too, so that this never finds more
 * than is lost, and may find less.
 *
 * @param connections oldest first
 */
export function gapsIn(connections: Pick<ConnectionFacts, "announced" | "arrived">[]): Gaps {
  let lost = 0;
  let awaited = 0;
  for (const { announced, arrived } of connections) {
    lost += Math.max(0, awaited - (announced ?? 0));
    awaited = Math.max(0, (announced ?? 0) - arrived);
  }
  return { lost, awaited };
}
