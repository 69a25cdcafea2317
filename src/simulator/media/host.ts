import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Certificates } from "./certificates.ts";
import type { MediaExchange, MediaHostNeeds } from "./exchange.ts";
import { takeUpload } from "./upload.ts";
import { giveFile } from "./download.ts";

/** Serves the media host over TLS on loopback and tells the store where it is. */
export async function serveMedia(
  needs: MediaHostNeeds,
  certificates: Certificates,
): Promise<{ url: string; close(): Promise<void> }> {
  const { key, certificate: cert } = certificates;
  const host = createServer({ key, cert }, (request, response) => {
    const url = new URL(request.url ?? "/", "https://media");
    const exchange = { ...needs, request, response, url };
    const handle = request.method === "POST" ? takeUpload : request.method === "GET" ? giveFile : refuse;
    // A client may disconnect at any time.
    Promise.resolve(handle(exchange)).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    host.once("error", reject);
    host.listen(0, "127.0.0.1", resolve);
  });
  const url = `https://127.0.0.1:${(host.address() as AddressInfo).port}`;
  needs.media.origin = url;
  return {
    url,
    async close() {
      host.closeAllConnections();
      await new Promise<void>((resolve) => host.close(() => resolve()));
    },
  };
}

function refuse({ response }: MediaExchange): void {
  response.writeHead(405).end();
}
