import { reactive } from "vue";

/** A short word on what happened; errors stay until they are closed. */
export interface Toast {
  id: number;
  tone: "good" | "bad";
  text: string;
  requestId: string | null;
}

const MOST = 4;
let last = 0;
/** On the screen now, oldest first. */
export const toasts: Toast[] = reactive([]);

function show(tone: Toast["tone"], text: string, requestId: string | null = null): void {
  toasts.push({ id: ++last, tone, text, requestId });
  if (toasts.length > MOST) toasts.shift();
}

/** Takes a toast away. */
export function closeToast(id: number): void {
  const at = toasts.findIndex((toast) => toast.id === id);
  if (at >= 0) toasts.splice(at, 1);
}

/** Says things in passing: `good("Saved")`, `bad("…")`, `error(whatever was thrown)`. */
export function useToast() {
  return {
    good: (text: string) => show("good", text),
    bad: (text: string) => show("bad", text),
    error: (error: unknown) =>
      show(
        "bad",
        error instanceof Error ? error.message : String(error),
        (error as { requestId?: string | null }).requestId ?? null,
      ),
  };
}
