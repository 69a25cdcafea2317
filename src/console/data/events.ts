import { onScopeDispose, readonly, ref } from "vue";
import { ApiError, eventsOf, wire } from "./api.ts";

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

const state = ref<"live" | "connecting" | "lost">("connecting");
const handlers = new Map<string, Set<(event: LiveEvent) => void>>();
let listening: AbortController | null = null;

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
function opened(): void {
  state.value = "live";
  tell({ type: "resumed", id: "", data: {} });
}

/** Listens to the account's events; a second call begins anew. */
export function listen(): void {
  stopListening();
  state.value = "connecting";
  listening = new AbortController();
  void follow(listening.signal);
}

async function follow(signal: AbortSignal): Promise<void> {
  let after: string | undefined;
  while (!signal.aborted) {
    after = await oneLine(signal, after);
    if (signal.aborted) return;
    state.value = "lost";
    await again(signal);
  }
}

/** @returns id of the last event that came */
async function oneLine(signal: AbortSignal, after: string | undefined): Promise<string | undefined> {
  const line = new AbortController();
  const end = (): void => line.abort();
  signal.addEventListener("abort", end);
  // The machine knows it at once; the line itself would fall silent.
  addEventListener("offline", end);
  let last = after;
  try {
    const onTurn = (turn: "open" | "waiting"): void => (turn === "open" ? opened() : end());
    for await (const { id, event, data } of eventsOf({ signal: line.signal, after, onTurn })) {
      last = id;
      tell({ type: event, id, data });
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) wire.onDoubt();
    if (error instanceof ApiError && error.status === 403 && !signal.aborted) hearNothing();
  } finally {
    signal.removeEventListener("abort", end);
    removeEventListener("offline", end);
  }
  return last;
}

/** Nothing that happens may be told to this key: there is nothing to wait for. */
function hearNothing(): void {
  stopListening();
  opened();
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
