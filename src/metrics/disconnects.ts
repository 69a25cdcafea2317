/** What of a number's record tells that a line of it has closed. */
interface ClosedLine {
  id: number;
  lastClose: { code: number; at: number } | null;
}

/**
 * Counts closed lines by looking at records whenever they change: each close once, and none from before the start.
 *
 * @param startedAt milliseconds
 */
export function createDisconnectCounter(
  count: (code: number) => void,
  startedAt: number,
): { look(device: ClosedLine): void } {
  const lastSeen = new Map<number, number>();
  return {
    look({ id, lastClose }) {
      if (lastClose === null || lastClose.at <= (lastSeen.get(id) ?? startedAt - 1)) return;
      lastSeen.set(id, lastClose.at);
      count(lastClose.code);
    },
  };
}
