import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A web server of the attacker's, on this machine. */
export interface FileServer {
  url(path: string): string;
  /** Connections that are open now. */
  open(): number;
  close(): void;
}

/** @param answer gets the path without its slash */
export async function serveFiles(
  answer: (path: string, response: ServerResponse) => void,
): Promise<FileServer> {
  let open = 0;
  const server = createServer((request, response) => {
    open++;
    response.once("close", () => open--);
    answer(decodeURIComponent((request.url ?? "/").slice(1)), response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: (path) => `${origin}/${encodeURIComponent(path)}`,
    open: () => open,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
