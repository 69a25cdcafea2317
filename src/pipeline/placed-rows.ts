/** Which rows of a number are in lanes, so that none gets into one twice. */
export interface PlacedRows {
  readonly size: number;
  has(inboxId: number): boolean;
  /** @returns false when the row is in a lane, or left one while the table was read: it must not be added */
  place(inboxId: number): boolean;
  /** The row has its decision. */
  left(inboxId: number): void;
  /** Reads the table. What leaves its lane meanwhile may still look undecided in what was read. */
  whileReading<T>(read: () => Promise<T>, use: (found: T) => void): Promise<void>;
}

/** None is in a lane yet. */
export function createPlacedRows(): PlacedRows {
  const placed = new Set<number>();
  /** Rows that have left a lane since a reading began; null: nobody reads. */
  let leftMeanwhile: Set<number> | null = null;

  return {
    get size() {
      return placed.size;
    },
    has: (inboxId) => placed.has(inboxId),
    place(inboxId) {
      if (placed.has(inboxId) || leftMeanwhile?.has(inboxId)) return false;
      placed.add(inboxId);
      return true;
    },
    left(inboxId) {
      placed.delete(inboxId);
      leftMeanwhile?.add(inboxId);
    },
    async whileReading(read, use) {
      leftMeanwhile = new Set();
      try {
        use(await read());
      } finally {
        leftMeanwhile = null;
      }
    },
  };
}
