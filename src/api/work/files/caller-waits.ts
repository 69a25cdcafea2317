import { GatewayError } from "../../../model/errors/errors.ts";

/** Ends work whose caller leaves. Nobody reads the reason; it says that this is no fault of the gateway's. */
export async function whileCallerWaits<T>(
  caller: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const leave = (): void =>
    ending.abort(new GatewayError("FILE_UNREACHABLE", "The caller disconnected before the file arrived."));
  if (caller.aborted) leave();
  caller.addEventListener("abort", leave, { once: true });
  try {
    return await work(ending.signal);
  } finally {
    caller.removeEventListener("abort", leave);
  }
}
