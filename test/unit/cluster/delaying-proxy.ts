import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A TCP proxy whose answers take their time, closed when the test ends. */
export interface DelayingProxy {
  url: string;
  /** From now on every byte of the server comes so much later. */
  delay(ms: number): void;
  /** Nothing passes any more, and no connection is closed for it, as with a cut cable; or everything passes again. */
  cut(isCut: boolean): void;
}

/** @param port of a server on loopback @param scheme of the address that it is given */
export async function startDelayingProxy(port: number, scheme = "redis"): Promise<DelayingProxy> {
  let delayMs = 0;
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    const end = (): void => void (client.destroy(), upstream.destroy());
    client.on("data", (chunk) => void (isCut || upstream.write(chunk)));
    upstream.on("data", (chunk) => {
      if (isCut) return;
      if (delayMs === 0) return void client.write(chunk);
      setTimeout(() => client.writable && client.write(chunk), delayMs);
    });
    for (const socket of [client, upstream]) sockets.add(socket.on("error", end).on("close", end));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delay: (ms) => void (delayMs = ms),
    cut: (now) => void (isCut = now),
  };
}
