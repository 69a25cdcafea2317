import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";

interface WireListener {
  url: string;
  close(): Promise<void>;
}

interface WireListenerOptions {
  port: number;
  /** Address to listen on. */
  host: string;
  /** Returns an HTTP status to refuse an upgrade, undefined to accept it. */
  refuse(): number | undefined;
  onSocket(socket: WebSocket): void;
}

/** Listens for WebSocket upgrades. The URL ends in `/ws/chat`, like the real service's. */
export async function listenForSockets(options: WireListenerOptions): Promise<WireListener> {
  const http = createServer((_request, response) => response.writeHead(426).end());
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  http.on("upgrade", (request, stream: Duplex, head) => {
    const status = options.refuse();
    if (status !== undefined) {
      // The client may break off meanwhile, or say more.
      stream.on("error", () => stream.destroy()).resume();
      stream.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => options.onSocket(socket));
  });
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(options.port, options.host, resolve);
  });
  const { port } = http.address() as AddressInfo;
  return {
    url: `ws://${options.host}:${port}/ws/chat`,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
}
