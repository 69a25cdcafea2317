import { onTestFinished } from "vitest";

/** One event of `GET /events`. */
export interface Told {
  id: number;
  event: string;
  data: Record<string, any>;
}

/** Listens to `GET /events` and keeps everything, until the test ends. */
export async function listenTo(url: string, key: string, lastEventId?: number) {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const response = await fetch(`${url}/events`, {
    headers: {
      authorization: `Bearer ${key}`,
      ...(lastEventId === undefined ? {} : { "last-event-id": String(lastEventId) }),
    },
    signal: ending.signal,
  });
  const listener = { response, text: "", ended: false, told: [] as Told[], stop: () => ending.abort() };
  void (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      listener.text += chunk;
      listener.told = listener.text
        .split("\n\n")
        .slice(0, -1)
        .filter((block) => !block.startsWith(":"))
        .map((block) => {
          const [, id, event, data] = /^id: (\d+)\nevent: (\S+)\ndata: (.+)$/.exec(block)!;
          return { id: Number(id), event: event!, data: JSON.parse(data!) };
        });
    }
    listener.ended = true;
  })().catch(() => (listener.ended = true));
  return listener;
}
