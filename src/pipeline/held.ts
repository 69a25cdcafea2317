import type { Incoming } from "../model/messages.ts";

/** So many messages are held whatever their size. */
const ANY_SIZE = 64;
const MOST = 5_000;
/** Base64 characters of the message as it came: a text of some hundred words, without a picture. */
const SMALL = 4_096;

/**
 * Whether a message stays in memory until its turn comes; otherwise it is read from its row then. A backlog must not fill
 * the memory, however long its texts are: at most some 60 MB are held.
 *
 * @param waiting how many messages wait already
 */
export function mayHold(message: Pick<Incoming, "raw">, waiting: number): boolean {
  return waiting < ANY_SIZE || (waiting < MOST && message.raw.length <= SMALL);
}
