import { computed, reactive, type Ref } from "vue";
import { api, ApiError } from "../../../data/index.ts";
import { sendCall, type Written } from "../calls.ts";
import { keyOfChat, type Message, type Place } from "../records.ts";

/** What a person has written and the gateway does not list yet. */
export interface Outgoing {
  /** One for all tries: however often it is sent, it arrives once. */
  key: string;
  place: Place;
  written: Written;
  at: string;
  /** Its id, once the gateway has it. */
  id: string | null;
  error: unknown;
}

/** Of all conversations; what was not sent stays while one looks at others. */
const all = reactive(new Map<string, Outgoing>());

/** Random, and no UUID: browsers give those only to pages that came by TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Sends what a person writes, each under a key of its own.
 *
 * @param listed what the gateway lists: what is among it is outgoing no more
 */
export function useOutgoing(place: Ref<Place | null>, listed: Ref<readonly Message[]>, done: () => void) {
  const shown = computed(() => {
    const ids = new Set(listed.value.filter(({ state }) => state !== undefined).map(({ id }) => id));
    const here = place.value === null ? "" : keyOfChat(place.value);
    return [...all.values()].filter((one) => keyOfChat(one.place) === here && !(one.id && ids.has(one.id)));
  });

  async function push(key: string): Promise<boolean> {
    const one = all.get(key);
    if (one === undefined) return false;
    one.error = null;
    try {
      const { id } = await api<{ id: string }>(sendCall(one.place, one.written, key));
      one.id = id;
      done();
      return true;
    } catch (error) {
      const id = error instanceof ApiError ? (error.answer as { id?: unknown } | null)?.id : undefined;
      // It is stored and has failed: the list has it, with its reason.
      if (typeof id === "string" && id !== "") one.id = id;
      one.error = error;
      done();
      return false;
    }
  }

  /** @returns resolves when it is sent, or has failed */
  function send(written: Written): Promise<boolean> {
    const key = newKey();
    all.set(key, {
      key,
      place: { ...place.value! },
      written,
      at: new Date().toISOString(),
      id: null,
      error: null,
    });
    return push(key);
  }

  return { shown, send, again: push, discard: (key: string) => all.delete(key) };
}
