import { Agent, fetch as fetchPatiently } from "undici";
import { createClient, type FilledRequest } from "../client/client.ts";
import { ParleyError } from "../client/error.ts";

/** What a gateway answered when it did not do what it was asked: its own words and code. */
export class GatewayRefusal extends Error {
  readonly status: number;
  /** `errors.code` of the answer, or null when the answer had none. */
  readonly code: string | null;
  readonly answer: Record<string, unknown>;

  constructor(request: string, status: number, answer: Record<string, unknown>) {
    const errors = answer["errors"] as { code?: string; fields?: Record<string, string[]> } | undefined;
    const fields = Object.entries(errors?.fields ?? {}).map(([name, texts]) => `${name}: ${texts.join(" ")}`);
    const words = String(answer["message"] ?? answer["msg"] ?? `HTTP ${status}`);
    super(`${request}: ${[words, ...fields].join(" ")}`);
    this.name = "GatewayRefusal";
    this.status = status;
    this.code = errors?.code ?? null;
    this.answer = answer;
  }
}

/** Nobody, or somebody who is not Parley, answered at the address. */
export class GatewayAway extends Error {
  constructor(baseUrl: string, cause: unknown) {
    super(`No Parley gateway answers at ${baseUrl}. Start it with: npm start`, { cause });
    this.name = "GatewayAway";
  }
}

/** A gateway asked over HTTP with one token or key. Every method gives the answer's JSON. */
export interface GatewayClient {
  readonly baseUrl: string;
  /** The same gateway asked with another token or key. */
  as(token: string): GatewayClient;
  /** The same gateway, waited for longer. */
  patient(timeoutMs: number): GatewayClient;
  get<T>(path: string): Promise<T>;
  /** All records of a list that is told page by page, in its order. */
  all<T>(path: string): Promise<T[]>;
  post<T>(path: string, body?: object): Promise<T>;
  put<T>(path: string, body: object): Promise<T>;
  patch<T>(path: string, body: object): Promise<T>;
  delete<T>(path: string): Promise<T>;
  /** A request whose answer is a file, as it comes. Waits for its beginning as long as it takes. @param method default: POST */
  download(path: string, method?: "GET" | "POST"): Promise<AsyncIterable<Uint8Array>>;
}

/** A command answers a person: it tries again for seconds, not for minutes. */
const RETRIES = 2;

/**
 * A gateway by HTTP, through the client that customers' programs use.
 *
 * @param baseUrl   without a slash at its end
 * @param token     operator's token or API key, sent as `Authorization: Bearer`; without one nothing is tried twice
 * @param timeoutMs for one attempt. Default 30,000
 * @returns a client whose methods resolve with the parsed answer, and reject with {@link GatewayRefusal} when the gateway
 *   answered 4xx or 5xx, with {@link GatewayAway} when nothing that speaks JSON answered
 */
export function createGatewayClient(baseUrl: string, token?: string, timeoutMs = 30_000): GatewayClient {
  const client = createClient({
    baseUrl,
    timeoutMs,
    retries: token === undefined ? 0 : RETRIES,
    ...(token !== undefined && { apiKey: token }),
    // A redirect would take the token elsewhere.
    fetch: (url, init) => fetch(url, { ...init, redirect: "manual" }),
  });

  async function ask<T>(
    method: FilledRequest["method"],
    path: string,
    body?: object,
    query?: object,
  ): Promise<T> {
    try {
      return await client.request<T>({ method, path, body, query: query as Record<string, unknown> });
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      if (error.answer === null) throw new GatewayAway(baseUrl, error);
      throw new GatewayRefusal(`${method} ${path}`, error.status, error.answer as Record<string, unknown>);
    }
  }

  async function all<T>(path: string): Promise<T[]> {
    const found: T[] = [];
    for (let before: string | undefined; ;) {
      const page: { data: T[]; next: string | null } = await ask("GET", path, undefined, { before });
      found.push(...page.data);
      if (page.next === null) return found;
      before = page.next;
    }
  }

  return {
    baseUrl,
    download: (path, method) => download(baseUrl, token, path, method),
    all,
    as: (other) => createGatewayClient(baseUrl, other, timeoutMs),
    patient: (longer) => createGatewayClient(baseUrl, token, longer),
    get: (path) => ask("GET", path),
    post: (path, body = {}) => ask("POST", path, body),
    put: (path, body) => ask("PUT", path, body),
    patch: (path, body) => ask("PATCH", path, body),
    delete: (path) => ask("DELETE", path),
  };
}

/** The client reads JSON; a file may take longer to begin than its requests may take at all. */
async function download(
  baseUrl: string,
  token: string | undefined,
  path: string,
  method: "GET" | "POST" = "POST",
): Promise<AsyncIterable<Uint8Array>> {
  const response = await fetchPatiently(baseUrl + path, {
    method,
    headers: token ? { authorization: `Bearer ${token}` } : {},
    dispatcher: new Agent({ headersTimeout: 0 }),
    redirect: "manual",
  }).catch((error: unknown) => {
    throw new GatewayAway(baseUrl, error);
  });
  if (response.ok && response.body) return response.body;
  const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  throw new GatewayRefusal(`${method} ${path}`, response.status, answer);
}
