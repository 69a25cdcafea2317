/** What faults do to one request to the media host; usually nothing. */
export interface MediaTrouble {
  status?: number;
  delayMs?: number;
  bytesPerSecond?: number;
  broken?: "truncated" | "corrupt" | "stalled";
}
