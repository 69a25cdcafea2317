import { Agent, fetch as fetchPatiently } from "undici";

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

/**
 * A gateway by HTTP.
 *
 * @param baseUrl   without a slash at its end
 * @param token     operator's token or API key, sent as `Authorization: Bearer`
 * @param timeoutMs for one request. Default 30,000
 * @returns a client whose methods resolve with the parsed answer, and reject with {@link GatewayRefusal} when the gateway
 *   answered 4xx or 5xx, with {@link GatewayAway} when nothing that speaks JSON answered
 */
export function createGatewayClient(baseUrl: string, token?: string, timeoutMs = 30_000): GatewayClient {
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body ? { "content-type": "application/json" } : {}),
      },
      body: body ? JSON.stringify(body) : undefined,
      signal: AbortSignal.timeout(timeoutMs),
      redirect: "manual",
    }).catch((error: unknown) => {
      throw new GatewayAway(baseUrl, error);
    });
    const answer = (await response.json().catch((error: unknown) => {
      throw new GatewayAway(baseUrl, error);
    })) as Record<string, unknown>;
    if (!response.ok) throw new GatewayRefusal(`${method} ${path}`, response.status, answer);
    return answer as T;
  };
  const download: GatewayClient["download"] = async (path, method = "POST") => {
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
  };
  const all = async <T>(path: string): Promise<T[]> => {
    const found: T[] = [];
    for (let next: string | null = null; ;) {
      const page: { data: T[]; next: string | null } = await ask(
        "GET",
        next === null ? path : `${path}?before=${encodeURIComponent(next)}`,
      );
      found.push(...page.data);
      if (page.next === null) return found;
      next = page.next;
    }
  };
  return {
    baseUrl,
    download,
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
