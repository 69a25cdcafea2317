import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Transcript } from "../transcript.ts";
import type { Simulator } from "../types.ts";
import { fromJson, toJson } from "./json.ts";
import { callMethod } from "./methods.ts";

/** Large enough for a file of several megabytes; larger ones are passed by path. */
const MAX_BODY_BYTES = 32_000_000;

/**
 * Serves the control API on loopback: `POST /` with `{"method": "sendText", "args": […]}` gives `{"result": …}` or
 * `{"error": "…"}`; faults are methods named `faults.close` and so on; `GET /events` streams transcript entries.
 */
export async function serveControl(
  simulator: Simulator,
  transcript: Transcript,
  port: number,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.method === "GET" && request.url === "/events") streamEvents(transcript, response);
    else if (request.method === "POST" && request.url === "/") void answer(simulator, request, response);
    else reply(response, 404, { error: "POST / with {method, args}, or GET /events" });
  });
  // With Node's default of five seconds, a caller that pauses could find its connection just being closed.
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(
  simulator: Simulator,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { method, args } = fromJson(await readBody(request)) as { method: string; args?: unknown[] };
    const result = await callMethod(simulator, method, args ?? []);
    reply(response, 200, { result: result ?? null });
  } catch (error) {
    reply(response, 400, { error: error instanceof Error ? error.message : String(error) });
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BODY_BYTES) throw new Error(`the body is larger than ${MAX_BODY_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(toJson(body));
}

function streamEvents(transcript: Transcript, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  response.write(": transcript entries, one event each\n\n");
  const stop = transcript.subscribe((entry) => response.write(`data: ${JSON.stringify(entry)}\n\n`));
  response.on("close", stop);
}
