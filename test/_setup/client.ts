import { undocumented } from "./documented.ts";

/** One answer of the gateway. */
export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed; `{}` when there was none, or it is no JSON. */
  body: Record<string, any>;
  /** As it came. */
  text: string;
}

export interface RequestOptions {
  /** API key or operator's token, sent as `Authorization: Bearer`. */
  key?: string;
  headers?: Record<string, string>;
}

export interface GatewayClient {
  /** Base address without a slash at its end. */
  readonly url: string;
  get(path: string, options?: RequestOptions): Promise<Answer>;
  /** An object is sent as JSON; a string as it is, without a content type. */
  post(path: string, body?: object | string, options?: RequestOptions): Promise<Answer>;
  put(path: string, body: object, options?: RequestOptions): Promise<Answer>;
  patch(path: string, body: object, options?: RequestOptions): Promise<Answer>;
  delete(path: string, options?: RequestOptions): Promise<Answer>;
  request(method: string, path: string, init?: RequestInit): Promise<Answer>;
  /** With the operator's token: a new account and its first key. */
  createAccount(name?: string, plan?: string): Promise<{ id: string; key: string }>;
}

/**
 * Requests to one gateway. Every answer is checked against `/openapi.json`, so that no test can see an answer that the
 * documentation does not describe.
 *
 * @param asDocumented false for a gateway whose answers are those of another (`MPWA_COMPAT`)
 */
export function createClient(
  url: string,
  adminToken: () => string,
  asDocumented: () => boolean = () => true,
): GatewayClient {
  const request = async (method: string, path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(url + path, { ...init, method, redirect: "manual" });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, text, body: parse(response, text) };
    if (asDocumented()) checkAnswer(method, path, answer);
    return answer;
  };
  const withBody = (
    method: string,
    path: string,
    body: object | string | undefined,
    options: RequestOptions = {},
  ) =>
    request(method, path, {
      headers: {
        ...(typeof body === "object" ? { "content-type": "application/json" } : {}),
        ...authorization(options.key),
        ...options.headers,
      },
      // As bytes, because fetch would name a content type for a string.
      body:
        body === undefined ? undefined : Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    });

  return {
    url,
    request,
    get: (path, options = {}) =>
      request("GET", path, { headers: { ...authorization(options.key), ...options.headers } }),
    delete: (path, options = {}) =>
      request("DELETE", path, { headers: { ...authorization(options.key), ...options.headers } }),
    post: (path, body, options) => withBody("POST", path, body, options),
    put: (path, body, options) => withBody("PUT", path, body, options),
    patch: (path, body, options) => withBody("PATCH", path, body, options),
    async createAccount(name = "Test", plan = "pro") {
      const { body } = await withBody("POST", "/admin/accounts", { name, plan }, { key: adminToken() });
      return { id: body["account"].id, key: body["api_key"] };
    },
  };
}

/** @throws when the answer lacks the envelope or its headers, or is not what `/openapi.json` describes */
export function checkAnswer(method: string, path: string, answer: Answer): void {
  const where = `${method} ${path} → ${answer.status}`;
  if (!answer.headers.get("x-request-id")) throw new Error(`${where} has no X-Request-Id`);
  if (answer.headers.get("access-control-allow-origin")) throw new Error(`${where} has CORS headers`);
  if (answer.status === 204 || method === "HEAD") {
    if (answer.text !== "") throw new Error(`${where} has a body`);
    return;
  }
  if (answer.body["msg"] !== answer.body["message"]) throw new Error(`${where}: msg and message differ`);
  const problem = undocumented(method, pathOf(path), answer);
  if (problem !== null) throw new Error(`${where} is not as documented: ${problem}\n${answer.text}`);
}

const pathOf = (path: string): string =>
  path
    .replace(/[?#].*$/, "")
    .replace(/^\/v1\//, "/")
    .replace(/(.)\/$/, "$1");
const authorization = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { authorization: `Bearer ${key}` };

function parse({ headers }: Response, text: string): Record<string, any> {
  if (text === "" || !(headers.get("content-type") ?? "").startsWith("application/json")) return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`The answer is not JSON: ${text.slice(0, 500)}`);
  }
}
