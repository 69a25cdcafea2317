import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { z } from "zod";
import { GatewayAway, GatewayRefusal } from "../../cli/gateway-client.ts";
import type { Bytes, WithCookie } from "./answers.ts";
import { ENDPOINTS, type Endpoint } from "./endpoints.ts";
import { hasToken, PAGE_HEADERS, strangeness } from "./guard.ts";
import type { Page } from "./pages.ts";
import type { Playground } from "./playground.ts";
import { Refusal } from "./refusal.ts";

/** A playground that listens. */
export interface PlaygroundServer {
  close(): Promise<void>;
}

const BASE = "/playground";
const API = `${BASE}/api`;
const LONGEST_JSON = 512 * 1024;
const LONGEST_FILE = 16 * 1024 * 1024;
const HEARTBEAT_MS = 15_000;

/** Where it will be, with the token in the fragment, which no server and no log ever sees. */
export const playgroundUrl = (port: number, token: string): string =>
  `http://127.0.0.1:${port}${BASE}#token=${token}`;

/** Serves the page and what it asks for on a port of loopback. */
export async function servePlayground(
  playground: Playground,
  { port, token, pages }: { port: number; token: string; pages: ReadonlyMap<string, Page> },
): Promise<PlaygroundServer> {
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
    const strange = strangeness(request, port);
    if (strange !== null) return sendJson(response, 403, { error: strange });
    const url = new URL(request.url ?? "/", `http://${request.headers.host}`);
    if (url.pathname === "/") return void response.writeHead(302, { location: BASE }).end();
    if (!url.pathname.startsWith(`${API}/`)) return sendPage(request, response, pages, url.pathname);
    if (!hasToken(request, token))
      return sendJson(response, 401, { error: "Open the address that the terminal shows." });
    if (url.pathname === `${API}/events`) return streamEvents(playground, response);
    return void answer(playground, request, response, url);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  pages: ReadonlyMap<string, Page>,
  path: string,
): void {
  const page = path.startsWith(BASE) ? pages.get(path.slice(BASE.length)) : undefined;
  if (page === undefined) return sendJson(response, 404, { error: "This page does not exist." });
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (!isRead) return sendJson(response, 405, { error: "Pages only answer GET and HEAD." });
  response.writeHead(200, {
    "content-type": page.type,
    "content-length": page.bytes.length,
    "cache-control": page.immutable ? "public, max-age=31536000, immutable" : "no-cache",
  });
  response.end(request.method === "HEAD" ? undefined : page.bytes);
}

function streamEvents(playground: Playground, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const end = playground.subscribe((event) => response.write(`data: ${JSON.stringify(event)}\n\n`));
  const beat = setInterval(() => response.write(": still here\n\n"), HEARTBEAT_MS);
  response.on("close", () => {
    clearInterval(beat);
    end();
  });
}

async function answer(
  playground: Playground,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  try {
    const result = await run(playground, request, url);
    if (isBytes(result)) return sendBytes(response, result.bytes);
    if (!isWithCookie(result)) return sendJson(response, 200, { data: result ?? null });
    response.setHeader("set-cookie", result.cookies);
    sendJson(response, 200, { data: result.body });
  } catch (error) {
    const [status, words] = explain(error);
    sendJson(response, status, { error: words });
  }
}

async function run(playground: Playground, request: IncomingMessage, url: URL): Promise<unknown> {
  const path = url.pathname.slice(API.length);
  const fitting = ENDPOINTS.flatMap((one) => {
    const params = paramsOf(one.path, path);
    return params === null ? [] : [{ endpoint: one, params }];
  });
  if (fitting.length === 0) throw new Refusal(404, "Nothing was found at this path.");
  const found = fitting.find(({ endpoint: { method } }) => method === request.method);
  if (found === undefined) throw new Refusal(405, `This path does not support ${request.method}.`);
  const { endpoint, params } = found;
  const bytes = await readBody(request, endpoint.takesBytes ? LONGEST_FILE : LONGEST_JSON);
  return endpoint.run(playground, {
    params,
    query: url.searchParams,
    body: readJson(endpoint, bytes),
    bytes,
    hostname: url.hostname,
  });
}

/** The named parts of a path; null when it is another one. */
function paramsOf(template: string, path: string): Record<string, string> | null {
  const names = template.split("/");
  const parts = path.split("/");
  const fits = (name: string, index: number): boolean =>
    name.startsWith(":") ? (parts[index] ?? "") !== "" : name === parts[index];
  if (names.length !== parts.length || !names.every(fits)) return null;
  const named = names.flatMap((name, index) =>
    name.startsWith(":") ? [[name.slice(1), decoded(parts[index]!)]] : [],
  );
  return Object.fromEntries(named) as Record<string, string>;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new Refusal(400, "The path is not a valid URL path.");
  }
}

function readJson({ input }: Endpoint, bytes: Buffer): unknown {
  if (input === undefined) return null;
  let given: unknown;
  try {
    given = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new Refusal(400, "The body is not JSON.");
  }
  return input.parse(given);
}

async function readBody(request: IncomingMessage, longest: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > longest) throw new Refusal(413, `The body may have at most ${longest / 1024} KiB.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** What the simulator or the gateway says no to is said in their own words. */
function explain(error: unknown): [status: number, words: string] {
  if (error instanceof Refusal) return [error.status, error.message];
  if (error instanceof z.ZodError) {
    const [first] = error.issues;
    return [400, `${first?.path.join(".") || "The body"}: ${first?.message}`];
  }
  if (error instanceof GatewayAway) return [503, "The gateway does not answer now. It is restarting."];
  if (error instanceof GatewayRefusal) return [error.status, error.message];
  return [409, error instanceof Error ? error.message : String(error)];
}

const isBytes = (result: unknown): result is Bytes =>
  typeof result === "object" && result !== null && "bytes" in result && result.bytes instanceof Uint8Array;
const isWithCookie = (result: unknown): result is WithCookie =>
  typeof result === "object" && result !== null && "cookies" in result;

/** Foreign bytes are never a page of ours: the script that asked knows what they are. */
function sendBytes(response: ServerResponse, bytes: Uint8Array): void {
  response.writeHead(200, {
    "content-type": "application/octet-stream",
    "content-disposition": "attachment",
    "cache-control": "no-store",
  });
  response.end(bytes);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}
