/** What faults do to one request to the media host; nothing of it is the usual case. */
export interface MediaTrouble {
  status?: number;
  delayMs?: number;
  bytesPerSecond?: number;
  broken?: "truncated" | "corrupt" | "stalled";
}
