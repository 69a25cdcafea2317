import { computed, reactive, ref, shallowReactive } from "vue";
import type { Line, PlaygroundEvent, WorldView } from "../demo/playground/view.ts";

const BASE = "/playground/api";
const KEPT = "parley.playground";
const AGAIN_MS = 1_000;

const fragment = new URLSearchParams(location.hash.slice(1));
/** The address was the one of the console: the page leads on to it, signed in. */
export const leadsToConsole = fragment.get("open") === "console";

/** The token stands in the address that the demo printed; it is taken out of what is seen. */
function readToken(): string {
  const given = fragment.get("token");
  if (given !== null) {
    sessionStorage.setItem(KEPT, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return given ?? sessionStorage.getItem(KEPT) ?? "";
}
const token = readToken();

/** Everything but the messages; null before the demo has told of it. */
export const world = ref<WorldView | null>(null);
/** Messages by phone, in the order in which they were shown. */
const byPhone = shallowReactive(new Map<string, Map<string, Line>>());
/** How the page stands to the demo. */
export const connection = ref<"connecting" | "live" | "lost" | "refused">("connecting");

/** What a phone shows. */
export const linesOf = (phone: string): Line[] => [...(byPhone.get(phone)?.values() ?? [])];

/** The linked number, digits. */
export const shop = computed(() => world.value?.number.digits ?? "");
/** What the demo did not do, in its words. */
export class ControlError extends Error {}

/** Asks the demo. @throws ControlError with its words */
export async function ask<T = unknown>(
  method: "GET" | "POST" | "PUT",
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await fetch(BASE + path, {
    method,
    headers: {
      "x-playground-token": token,
      ...(body !== undefined && !(body instanceof Blob) && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
  }).catch(() => {
    throw new ControlError("The demo does not answer. Is it still running in your terminal?");
  });
  const answer = (await response.json().catch(() => ({}))) as { data?: T; error?: string };
  if (!response.ok) throw new ControlError(answer.error ?? `HTTP ${response.status}`);
  return answer.data as T;
}

/** Signs this browser in at the gateway's console. @returns the console's address */
export const signInAtConsole = async (as: "account" | "operator"): Promise<string> =>
  (await ask<{ url: string }>("POST", "/console", { as })).url;

/** A file of a message, for `src` of what shows it. */
export async function mediaUrl(phone: string, id: string, mimetype: string): Promise<string> {
  const response = await fetch(`${BASE}/phones/${phone}/media/${encodeURIComponent(id)}`, {
    headers: { "x-playground-token": token },
  });
  if (!response.ok) throw new ControlError(((await response.json()) as { error: string }).error);
  return URL.createObjectURL(new Blob([await response.arrayBuffer()], { type: mimetype }));
}

function apply(event: PlaygroundEvent): void {
  if (event.type === "all") byPhone.clear();
  if (event.type !== "line") world.value = event.world;
  const lines = event.type === "all" ? event.lines : event.type === "line" ? [event.line] : [];
  for (const line of lines) {
    const shown = byPhone.get(line.phone) ?? reactive(new Map<string, Line>());
    byPhone.set(line.phone, shown as Map<string, Line>);
    shown.set(`${line.from} ${line.id}`, line);
  }
}

async function follow(): Promise<void> {
  const response = await fetch(`${BASE}/events`, { headers: { "x-playground-token": token } });
  if (response.status === 401) {
    connection.value = "refused";
    return;
  }
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  connection.value = "live";
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const parts = rest.split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts)
      if (part.startsWith("data: ")) apply(JSON.parse(part.slice(6)) as PlaygroundEvent);
  }
}

/** Follows what happens, and comes back when the line breaks. */
export function connect(): void {
  void follow()
    .catch(() => {})
    .then(() => {
      if (connection.value === "refused") return;
      connection.value = "lost";
      setTimeout(connect, AGAIN_MS);
    });
}
