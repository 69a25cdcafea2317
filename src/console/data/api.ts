import { reactive } from "vue";
import { createClient, ParleyError, type EventsOptions, type StreamEvent } from "../../client/index.ts";

/** What a refused or failed request says; `code` is `NETWORK_ERROR`, `status` 0, when no answer came. */
export const ApiError = ParleyError;
export type ApiError = ParleyError;

/** One request of the public API, as it is sent and as it is copied as curl. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From the root, parts already encoded: `/devices/628123`. */
  path: string;
  /** Left out where null or undefined. */
  query?: Record<string, string | number | boolean | null | undefined>;
  /** Sent as JSON. */
  body?: unknown;
}

/** What requests carry, and who is told when a session has ended. Nothing of it is stored anywhere but in memory. */
export const wire = reactive({
  csrf: null as string | null,
  onSessionEnd: (() => {}) as () => void,
  /** The gateway took the cookie for none: is there a session at all? */
  onDoubt: (() => {}) as () => void,
});

/** Somebody looks at the screen: what takes longer is told, and tried again when they say so. */
const PATIENCE = { retries: 2, longestWaitMs: 3_000 };
const parley = createClient({ ...PATIENCE, csrfToken: () => wire.csrf });
/** The client's methods by name; what a call's path answers is said by who makes it. */
type Ask = (path: string, input: Record<string, unknown>) => Promise<unknown>;
const METHODS = { GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "delete" } as const;

/**
 * Sends one request with the session's cookie, and repeats it where that can do no harm.
 *
 * @param options `retries` of it after the first try, default 2
 * @returns the whole parsed answer: `{status, msg, data, …}`
 * @throws ApiError with the gateway's own words
 */
export async function api<T = unknown>(
  call: Call,
  options: { signal?: AbortSignal; retries?: number } = {},
): Promise<T> {
  const ask = parley[METHODS[call.method]] as unknown as Ask;
  try {
    const { query, body } = call;
    return (await ask(call.path, {
      ...options,
      ...(query && { query }),
      ...(body !== undefined && { body }),
    })) as T;
  } catch (error) {
    if (error instanceof ParleyError && error.code === "SESSION_EXPIRED") wire.onSessionEnd();
    else if (error instanceof ParleyError && error.status === 401 && call.path !== "/console/session")
      wire.onDoubt();
    throw error;
  }
}

/** What happens in the account, as `parley.events` of the client tells it. */
export const eventsOf = (options: EventsOptions): AsyncGenerator<StreamEvent, void> => parley.events(options);

/** May the same question be answered in a while, though nobody changes anything? */
export const isPassing = (error: unknown): boolean =>
  error instanceof ParleyError && (error.status === 0 || error.status === 429 || error.status >= 500);

/** `?a=1&b=x`, or nothing. */
export function queryOf({ query = {} }: Call): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}
