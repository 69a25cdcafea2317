import { rmSync } from "node:fs";

/** Removes a folder with all that is in it; there need not be one. Waits for what a thread or a process still closes there as it ends. */
export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}
