/**
 * What is kept of how a message was decided, beside the decision and in its row: some dozens of bytes, so that
 * `GET /messages/{id}/trace` can tell it later.
 */
export interface Way {
  /** Milliseconds from the beginning of its turn to its commit. */
  asked: number;
  /** Messages that stood before it in its lane when it came. */
  ahead: number;
  /** What the commit held beside the decision, and how often; in the words of `heldIn`. */
  held: Record<string, number>;
  /** Ids of replies that are not derived from their place. */
  ids?: string[];
}
