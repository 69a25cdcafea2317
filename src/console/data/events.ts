import { onScopeDispose, readonly, ref } from "vue";
import { ApiError, eventsOf, wire } from "./api.ts";
import { share } from "./sharing.ts";

/**
 * One event of `GET /events`; `resumed` is the console's own: from now on it is told what happens, so whatever was asked before
 * is to be asked again.
 */
export interface LiveEvent {
  type: string;
  id: string;
  data: Record<string, unknown>;
}

/** How soon a lost line is made anew, at the latest. */
const AGAIN_MS = 2_000;

type State = "live" | "connecting" | "lost";
/** What the tab that has the line tells the others. */
type News = { state: State } | { event: LiveEvent } | { doubt: true };

const state = ref<State>("connecting");
const handlers = new Map<string, Set<(event: LiveEvent) => void>>();
let listening: AbortController | null = null;
/** Of the last event that this tab or another has heard. */
let last: string | undefined;
let pass: (news: News) => void = () => {};

/** Is what stands on the screen told of as it happens? */
export const live = readonly(state);

function tell(event: LiveEvent): void {
  for (const handler of handlers.get(event.type) ?? [])
    try {
      handler(event);
    } catch (error) {
      // One screen's fault is not the others'.
      reportError(error);
    }
}

/** Every line misses what happened before it, the first one too: lists may have been answered before it stood. */
function become(next: State): void {
  const before = state.value;
  state.value = next;
  if (next === "live" && before !== "live") tell({ type: "resumed", id: "", data: {} });
}
function turn(next: State): void {
  become(next);
  pass({ state: next });
}

/**
 * Listens to the account's events; a second call begins anew.
 *
 * @param name tabs of the same name have one line together; none: this tab has its own
 */
export function listen(name?: string): void {
  stopListening();
  const own = new AbortController();
  const { signal } = own;
  listening = own;
  state.value = "connecting";
  last = undefined;
  if (name === undefined) return void follow(signal);
  // Set before a line of this tab can tell of anything: that takes a turn of the browser.
  pass = share<News>(name, signal, { hold: follow, hear, now: () => ({ state: state.value }) });
}

/** Another tab has the line. */
function hear(news: News): void {
  if ("state" in news) return become(news.state);
  if ("doubt" in news) return wire.onDoubt();
  last = news.event.id;
  tell(news.event);
}

async function follow(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await oneLine(signal);
    if (signal.aborted) return;
    turn("lost");
    await again(signal);
  }
}

async function oneLine(signal: AbortSignal): Promise<void> {
  const line = new AbortController();
  const end = (): void => line.abort();
  signal.addEventListener("abort", end);
  // The machine knows it at once; the line itself would fall silent.
  addEventListener("offline", end);
  const onTurn = (which: "open" | "waiting"): void => {
    if (which === "waiting") return end();
    // One that was another tab's until now misses what happened between them.
    state.value = "connecting";
    turn("live");
  };
  try {
    for await (const { id, event: type, data } of eventsOf({ signal: line.signal, after: last, onTurn })) {
      last = id;
      const event: LiveEvent = { type, id, data };
      tell(event);
      pass({ event });
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) doubt();
    if (error instanceof ApiError && error.status === 403 && !signal.aborted) hearNothing();
  } finally {
    signal.removeEventListener("abort", end);
    removeEventListener("offline", end);
  }
}

/** The cookie is that of all tabs. */
function doubt(): void {
  wire.onDoubt();
  pass({ doubt: true });
}

/** Nothing that happens may be told to this key: there is nothing to wait for. */
function hearNothing(): void {
  stopListening();
  become("live");
}

/** Resolves after a while, when the machine has a network again, or when nobody listens any more. */
function again(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, AGAIN_MS);
    addEventListener("online", end);
    signal.addEventListener("abort", end);
  });
}

/** Ends the connection. */
export function stopListening(): void {
  listening?.abort();
  listening = null;
  pass = () => {};
}

/** Calls the handler for each event of these types for as long as the component is there. */
export function useEvents(types: string[], handler: (event: LiveEvent) => void): void {
  for (const type of types) {
    const some = handlers.get(type) ?? new Set();
    handlers.set(type, some.add(handler));
  }
  onScopeDispose(() => {
    for (const type of types) handlers.get(type)?.delete(handler);
  });
}
