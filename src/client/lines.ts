/**
 * The lines of a stream of UTF-8 text, without their ends. What stands behind the last end is no line: it was cut off.
 *
 * @param onChunk called with everything that arrives
 */
export async function* lines(
  stream: ReadableStream<Uint8Array>,
  onChunk: () => void,
): AsyncGenerator<string, void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  // A line may come in many pieces: joined once, when its end has come.
  let pieces: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onChunk();
      const parts = decoder.decode(value, { stream: true }).split("\n");
      pieces.push(parts[0]!);
      for (const part of parts.slice(1)) {
        const line = pieces.join("");
        pieces = [part];
        yield line.endsWith("\r") ? line.slice(0, -1) : line;
      }
    }
  } finally {
    reader.releaseLock();
  }
}
