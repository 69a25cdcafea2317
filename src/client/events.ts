import { awayError, errorOf, ParleyError } from "./error.ts";
import { prepare, type ClientOptions } from "./request.ts";
import { lines } from "./lines.ts";
import type { Schemas } from "./types.ts";
import { backoffMs, limit, pause } from "./waiting.ts";

/** One event of the account: `event` says what `data` is. */
export type StreamEvent = Schemas["StreamEvent"];

/** How events are listened to. */
export interface EventsOptions {
  /** Ends the listening; the loop over the events then ends without an error. */
  signal?: AbortSignal;
  /** Id of the last event that is known: what came after it comes first, as far as the gateway's last 1,000 go. Default: from now on. */
  after?: string;
  /**
   * Told of each turn: `open` when the gateway answers, `waiting` when the line was lost and is made anew by itself.
   *
   * @param error why it was lost; null when the gateway ended it, as it does before it stops
   */
  onTurn?: (turn: "open" | "waiting", error: ParleyError | null) => void;
  /** A line on which nothing comes for so long is made anew; the gateway says something every 15 s. Default 45,000. */
  silentMs?: number;
}

/** One line, and what is remembered when it is lost. */
interface Listening {
  after: string | undefined;
  /** Lines in a row that brought nothing. */
  failures: number;
}

/**
 * What happens in the account, for as long as it is listened to. A lost line is made anew, and goes on behind the last event.
 *
 * @throws ParleyError when the gateway refuses: the key is not or no longer valid, for instance
 */
export async function* listen(
  options: ClientOptions,
  events: EventsOptions = {},
): AsyncGenerator<StreamEvent, void> {
  const { signal, onTurn } = events;
  const listening: Listening = { after: events.after, failures: 0 };
  for (;;) {
    if (signal?.aborted) return;
    let lost: ParleyError | null = null;
    try {
      yield* oneLine(options, events, listening);
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof ParleyError) || !passes(error)) throw error;
      lost = error;
    }
    if (signal?.aborted) return;
    onTurn?.("waiting", lost);
    const wait = Math.max(backoffMs(++listening.failures), (lost?.retryAfter ?? 0) * 1000);
    // The signal's end of it is looked at above.
    await pause(wait, signal).catch(() => undefined);
  }
}

const passes = ({ status }: ParleyError): boolean =>
  status === 0 || status === 408 || status === 429 || status >= 500;

async function* oneLine(
  options: ClientOptions,
  { signal, onTurn, silentMs = 45_000 }: EventsOptions,
  listening: Listening,
): AsyncGenerator<StreamEvent, void> {
  const { url, init } = prepare(options, { method: "GET", template: "/events" });
  const headers: Record<string, string> = {
    ...(init.headers as Record<string, string>),
    accept: "text/event-stream",
  };
  if (listening.after !== undefined) headers["last-event-id"] = listening.after;
  const silence = limit(silentMs, signal);
  const call = options.fetch ?? ((url, init) => fetch(url, init));
  let body: ReadableStream<Uint8Array> | null = null;
  try {
    const response = await call(url, { ...init, headers, signal: silence.signal });
    if (!response.ok) throw errorOf(response, await response.json().catch(() => null));
    body = response.body;
    if (body === null) throw awayError(url, undefined, "UNEXPECTED_ANSWER", response.status);
    onTurn?.("open", null);
    let heard = 0;
    const onChunk = (): void => {
      silence.again();
      // The first is the greeting, which a gateway that ends at once gives as well.
      if (++heard > 1) listening.failures = 0;
    };
    for await (const event of parsed(body, onChunk)) {
      listening.after = event.id;
      yield event;
    }
  } catch (error) {
    throw error instanceof ParleyError ? error : awayError(url, error, "NETWORK_ERROR");
  } finally {
    silence.end();
    // Whoever leaves the loop leaves the line.
    await body?.cancel().catch(() => undefined);
  }
}

/** @param onChunk called with whatever comes, comments as well */
async function* parsed(
  body: ReadableStream<Uint8Array>,
  onChunk: () => void,
): AsyncGenerator<StreamEvent, void> {
  let [id, event, data] = ["", "", ""];
  for await (const line of lines(body, onChunk)) {
    if (line === "") {
      if (data !== "") yield { id, event, data: JSON.parse(data) as unknown } as StreamEvent;
      data = "";
    } else if (line.startsWith("id: ")) id = line.slice(4);
    else if (line.startsWith("event: ")) event = line.slice(7);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
}
