import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** What one path answers. */
export type FileAnswer = Buffer | ((request: IncomingMessage, response: ServerResponse) => void);

export interface FileHost {
  /** Address of a path: `host.url("/a.pdf")`. */
  url(path: string): string;
  /** Paths that were asked for, in order. */
  requests: string[];
}

/** A web server with files, as customers' own; ends with the test. Unknown paths are 404 pages. */
export async function startFileHost(files: Record<string, FileAnswer>): Promise<FileHost> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://host");
    requests.push(pathname);
    const answer = files[decodeURIComponent(pathname)];
    if (answer === undefined)
      response.writeHead(404, { "content-type": "text/html" }).end("<html>none</html>");
    else if (typeof answer === "function") answer(request, response);
    else response.writeHead(200, { "content-length": answer.length }).end(answer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: (path) => origin + path, requests };
}
