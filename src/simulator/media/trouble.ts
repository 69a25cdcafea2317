import type { SimulatorServer } from "../server/server.ts";

/** What faults do to one request; nothing of it is the usual case. */
export interface MediaTrouble {
  status?: number;
  delayMs?: number;
  bytesPerSecond?: number;
  broken?: "truncated" | "corrupt" | "stalled";
}

/** Asks every armed fault about one request. */
export function troubleFor(
  server: SimulatorServer,
  direction: "upload" | "download",
  type: string,
): MediaTrouble {
  return Object.assign({}, ...server.hooks.media.slice().map((hook) => hook(direction, type)));
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
