import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface TestServer {
  url: string;
  port: number;
  requests: { method: string; path: string; headers: IncomingMessage["headers"]; body: string }[];
  /** Connections ever opened. */
  connections(): number;
  stop(): Promise<void>;
}

/** A real HTTP server on loopback that keeps what it was sent. Ends with the test. */
export async function startServer(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
  host = "127.0.0.1",
): Promise<TestServer> {
  const requests: TestServer["requests"] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    requests.push({ method: request.method!, path: request.url!, headers: request.headers, body });
    answer(request, response, body);
  });
  server.on("connection", () => connections++);
  server.listen(0, host);
  await once(server, "listening");
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(stop);
  const { port } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return { url: `http://${name}:${port}`, port, requests, connections: () => connections, stop };
}
