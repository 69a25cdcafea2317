import { vi } from "vitest";

/** A random number from 0 up to 1, the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 12)) >>> 0) / 2 ** 32;
  };
}

/** What a test sees of the line on which events come. */
export interface Line {
  /** Tells of something; it arrives a little later, after what was told before. Nobody hears it while the line is lost. */
  tell(event: string, data: object): void;
  /** It is lost, and what was on its way with it. */
  cut(): void;
}

/** What the gateway answers to a path with its query, as it is when the question reaches it. */
type Answer = (path: string, query: URLSearchParams) => object;

/**
 * A gateway behind a bad network, in place of `fetch`: questions and answers take as long as chance has it, and overtake each other;
 * events come in order. Needs fake timers.
 *
 * @param slow most milliseconds that a way takes
 */
export function badNetwork(random: () => number, answer: Answer, slow = 3_000): Line {
  let stream: ReadableStreamDefaultController<Uint8Array> | null = null;
  let last = 0;
  let id = 0;
  const pause = (signal?: AbortSignal | null): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = (): void => reject(signal?.reason as Error);
      signal?.addEventListener("abort", end, { once: true });
      setTimeout(() => {
        signal?.removeEventListener("abort", end);
        resolve();
      }, random() * slow);
    });
  const write = (text: string): void => {
    const at = (last = Math.max(last, Date.now() + random() * slow));
    const to = stream;
    setTimeout(() => to === stream && to?.enqueue(new TextEncoder().encode(text)), at - Date.now());
  };
  vi.stubGlobal("addEventListener", () => {});
  vi.stubGlobal("removeEventListener", () => {});
  vi.stubGlobal("fetch", async (url: string, { signal }: RequestInit) => {
    await pause(signal);
    const { pathname, searchParams } = new URL(url, "http://gateway");
    if (pathname !== "/events") {
      const body = JSON.stringify(answer(pathname, searchParams));
      await pause(signal);
      return new Response(body, { headers: { "content-type": "application/json" } });
    }
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (stream = controller) });
    write(": connected\n\n");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  return {
    tell(event, data) {
      if (stream !== null) write(`id: ${++id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    cut() {
      stream?.close();
      stream = null;
    },
  };
}
