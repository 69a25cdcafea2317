import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { TranscriptEntry } from "../../simulator/types.ts";

/**
 * Follows the simulator's transcript.
 *
 * @param onEntry gets each entry when it is made and whenever it changes
 * @param signal ends it
 * @returns resolves when the stream has begun; what happens from then on is told
 */
export async function followTranscript(
  controlUrl: string,
  onEntry: (entry: TranscriptEntry) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch(`${controlUrl}/events`, { signal });
  if (response.body === null) throw new Error("The simulator's transcript cannot be read.");
  const rows = createInterface({ input: Readable.fromWeb(response.body as never) });
  rows.on("line", (row) => {
    if (row.startsWith("data: ")) onEntry(JSON.parse(row.slice("data: ".length)) as TranscriptEntry);
  });
  // The simulator's own end is told by its process.
  rows.on("error", () => {});
}
