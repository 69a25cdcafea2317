import { computed, onScopeDispose, ref, shallowRef, watch, type Ref } from "vue";
import { api, ApiError, type Call } from "../data/api.ts";
import { useEvents } from "../data/events.ts";

/** What `navigator.credentials.get` is to be called with on WhatsApp's own page. */
export type PasskeyQuestion = Record<string, unknown>;

/** An answer of `POST /generate-qr`. */
export interface LinkAnswer {
  state:
    | "processing"
    | "qr"
    | "code"
    | "passkey"
    | "action_required"
    | "connecting"
    | "connected"
    | "linking";
  qrcode?: string;
  code?: string;
  expires_in?: number;
  passkey?: PasskeyQuestion;
  reason?: string;
  message: string;
}

/** How it is asked for: by an image that is scanned, or by letters that are typed on the phone. */
export type LinkMethod = "qr" | "code";

const SOON_MS = 700;
const AGAIN_MS = 2_500;
/** Codes are not made for ever for a page that was forgotten. */
const LONGEST_MS = 5 * 60_000;
/** Nothing more is asked while one of them stands. */
const RESTS = new Set(["connected", "action_required"]);

/** `POST /generate-qr` for a number. */
export const linkCall = (device: string, method: LinkMethod, force = false): Call => ({
  method: "POST",
  path: "/generate-qr",
  body: { device, ...(method === "code" && { method }), ...(force && { force: "1" }) },
});

/** Seconds until a code of now is worth nothing, counted down. */
function useCountdown(answer: Ref<LinkAnswer | null>): Ref<number> {
  const left = ref(0);
  let ends = 0;
  const count = (): void => {
    left.value = Math.max(0, Math.ceil((ends - performance.now()) / 1_000));
  };
  watch(answer, (next) => {
    ends = performance.now() + (next?.expires_in ?? 0) * 1_000;
    count();
  });
  const timer = setInterval(count, 1_000);
  onScopeDispose(() => clearInterval(timer));
  return left;
}

/**
 * Links a number: asks for its code again and again, so that what is on the screen can be scanned, until it is linked.
 *
 * @param device   digits; null asks nothing
 * @param onLinked called once it is connected
 */
export function useLinking(device: () => string | null, method: Ref<LinkMethod>, onLinked: () => void) {
  const answer = shallowRef<LinkAnswer | null>(null);
  const error = shallowRef<unknown>(null);
  /** It waited long enough: somebody has to ask for more. */
  const resting = ref(false);
  let timer: ReturnType<typeof setTimeout> | null = null;
  let began = performance.now();
  let round = 0;
  const leaving = new AbortController();

  function plan(afterMs: number): void {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => void ask(), afterMs);
  }

  async function ask(force = false): Promise<void> {
    const number = device();
    if (number === null) return;
    if (performance.now() - began > LONGEST_MS) {
      resting.value = true;
      return;
    }
    if (document.visibilityState === "hidden") return plan(AGAIN_MS);
    const mine = round;
    try {
      const next = await api<LinkAnswer>(linkCall(number, method.value, force), {
        retries: 0,
        signal: leaving.signal,
      });
      if (mine !== round) return;
      const was = answer.value?.state;
      answer.value = next;
      error.value = null;
      if (next.state === "connected" && was !== "connected") onLinked();
      if (!RESTS.has(next.state)) plan(next.state === "processing" ? SOON_MS : AGAIN_MS);
    } catch (failure) {
      if (mine !== round) return;
      error.value = failure;
      // What will be the same next time waits for somebody.
      if (failure instanceof ApiError && failure.status < 500 && failure.status !== 0) return;
      plan(AGAIN_MS);
    }
  }

  /** From the beginning. @param force drops the code that is there */
  function restart(force = false): void {
    round++;
    began = performance.now();
    answer.value = null;
    error.value = null;
    resting.value = false;
    if (timer !== null) clearTimeout(timer);
    void ask(force);
  }

  let known: LinkMethod = method.value;
  watch([device, method], () => {
    // Another method is another linking.
    const changed = known !== method.value;
    known = method.value;
    restart(changed);
  });
  restart();
  useEvents(["device"], ({ data }) => {
    if (data["device"] === device() && !resting.value && answer.value?.state !== "connected") plan(0);
  });
  onScopeDispose(() => {
    round++;
    leaving.abort();
    if (timer !== null) clearTimeout(timer);
  });
  const scanned = computed(() =>
    error.value instanceof ApiError && error.value.code === "WRONG_NUMBER"
      ? String((error.value.details as Record<string, unknown>)["scanned"] ?? "")
      : null,
  );
  return { answer, error, resting, left: useCountdown(answer), scanned, restart };
}
