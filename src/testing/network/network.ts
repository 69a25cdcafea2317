import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import { fileURLToPath } from "node:url";

/** What a stub answers: a `Response`, a text, an `Error` to fail with, or anything else as JSON. */
export type StubAnswer = Response | string | number | boolean | null | object | Error;
/** A stub: an answer that is always the same, or a function that answers each request. */
export type Stub = StubAnswer | ((request: Request) => StubAnswer | Promise<StubAnswer>);

/** A request that a bot made and a stub answered. */
export interface Call {
  method: string;
  url: string;
  body: string;
}

/** A call with what tells whether it is another one, or the same again. */
export interface MadeCall extends Call {
  /** The step that made it: one id for one step of one message, however often it was begun; null outside of steps. */
  step: string | null;
  /** Which beginning of the step it was; they are counted through the whole chat. */
  beginning: number;
  /** Its `Idempotency-Key` header. */
  idempotencyKey: string | null;
}

/** Thrown when a bot makes a request that the test has no answer for. */
export class NetworkBlockedError extends Error {
  /** Method and URL. */
  readonly request: string;
  constructor(what: string, from: string | null) {
    super(
      `Your bot called ${what}${from === null ? "" : ` (${from})`} in a test. Stub it: chat.stub(${JSON.stringify(what.replace(/^[A-Z]+ /, ""))}, { … }).`,
    );
    this.name = "NetworkBlockedError";
    this.request = what;
  }
}

/** What one chat lets through. */
export interface NetworkRules {
  answer(request: Request): Promise<Response> | null;
  blocked(error: NetworkBlockedError): void;
  /** Its own servers. */
  ports: ReadonlySet<number>;
}

const rules = new Set<NetworkRules>();
const original = {
  fetch: globalThis.fetch,
  connect: net.Socket.prototype.connect,
  http: http.request,
  httpGet: http.get,
  https: https.request,
  httpsGet: https.get,
};
/** What stood in place of fetch when it was guarded: a test's own stub, or Node's. */
let before = original.fetch;

/** From now on nothing reaches the network but what the rules let through. @returns ends it */
export function guardNetwork(rule: NetworkRules): () => void {
  if (rules.size === 0) install();
  rules.add(rule);
  return () => {
    if (rules.delete(rule) && rules.size === 0) uninstall();
  };
}

/** @throws {NetworkBlockedError} when nobody has an answer */
export async function answerFromStubs(request: Request): Promise<Response> {
  for (const rule of rules) {
    const answer = rule.answer(request);
    if (answer !== null) return answer;
  }
  throw block(`${request.method} ${request.url}`);
}

function block(what: string): NetworkBlockedError {
  const error = new NetworkBlockedError(what, callSite());
  for (const rule of rules) rule.blocked(error);
  return error;
}

const HERE = fileURLToPath(import.meta.url);
/** Where this is no bundle, what stands between a bot and here lies in files of its own. */
const BETWEEN = HERE.replaceAll("\\", "/").endsWith("/src/testing/network/network.ts")
  ? ["bot", "net", "testing"].map((folder) => fileURLToPath(new URL(`../../${folder}/`, import.meta.url)))
  : [];

/** File and line of who made the call: the first that is neither Node's, nor a package's, nor this file. */
function callSite(): string | null {
  const { stack = "" } = new Error("where");
  const frames = stack.split("\n").slice(1);
  const own = frames.find(
    (frame) =>
      !/node:|node_modules|<anonymous>/.test(frame) &&
      !frame.includes(HERE) &&
      !BETWEEN.some((folder) => frame.includes(folder)) &&
      /:\d+:\d+\)?$/.test(frame),
  );
  return own === undefined ? null : own.trim().replace(/^at (?:async )?(?:.*\()?(.*?)\)?$/, "$1");
}

const guardedFetch: typeof fetch = async (input, init) => {
  // A test that put a fetch of its own in place may have brought this one back after the last chat was closed.
  if (rules.size === 0 || before !== original.fetch) return before(input, init);
  return answerFromStubs(new Request(input, init));
};

function guardedRequest(protocol: string): typeof http.request {
  return ((...args: Parameters<typeof http.request>) => {
    const [target] = args as unknown as [string | URL | http.RequestOptions];
    const { href, host, hostname, port, path = "/", method = "GET" } = target as URL & http.RequestOptions;
    const address = typeof target === "string" ? target : href;
    const name = hostname ?? host ?? "localhost";
    if (address === undefined && isOwn(name, Number(port))) return original.http(...args);
    throw block(`${method} ${address ?? `${protocol}//${name}${port ? `:${port}` : ""}${path}`}`);
  }) as typeof http.request;
}

function guardedConnect(this: net.Socket, ...args: unknown[]): net.Socket {
  const target = (Array.isArray(args[0]) ? (args[0] as unknown[])[0] : args[0]) as
    | net.TcpNetConnectOpts
    | number
    | string;
  const { host = "localhost", port, path } = typeof target === "object" ? (target as never) : tcp(args);
  if (path !== undefined || isOwn(host, Number(port)))
    return original.connect.apply(this, args as Parameters<net.Socket["connect"]>);
  throw block(`${host}:${port}`);
}

function tcp([port, host]: unknown[]): { host?: string; port?: unknown; path?: string } {
  if (typeof port === "string" && !/^\d+$/.test(port)) return { path: port };
  return { port, ...(typeof host === "string" && { host }) };
}

const isOwn = (host: string, port: number): boolean =>
  /^(127\.0\.0\.1|localhost|::1)$/.test(host) && [...rules].some(({ ports }) => ports.has(port));

function install(): void {
  if (globalThis.fetch !== guardedFetch) before = globalThis.fetch;
  globalThis.fetch = guardedFetch;
  net.Socket.prototype.connect = guardedConnect as typeof original.connect;
  http.request = http.get = guardedRequest("http:") as typeof http.get;
  https.request = https.get = guardedRequest("https:") as typeof https.get;
  syncBuiltinESMExports();
}

function uninstall(): void {
  if (globalThis.fetch === guardedFetch) globalThis.fetch = before;
  net.Socket.prototype.connect = original.connect;
  http.request = original.http;
  http.get = original.httpGet;
  https.request = original.https;
  https.get = original.httpsGet;
  syncBuiltinESMExports();
}
