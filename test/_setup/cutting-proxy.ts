import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/**
 * What becomes of the next request that holds the marked text: its answer is cut off after the server has done it, and the
 * server may be away from then on; it is
 * cut off before the server gets it; it is cut off and reaches the server later; or nothing ever comes back.
 */
export type Fate = "answer lost" | "answer lost, then away" | "request lost" | "request late" | "no answer";

export interface CuttingProxy {
  url: string;
  /** @param times how many requests; default 1 */
  next(fate: Fate, marked: string, times?: number): void;
  /** The same for what comes behind it. */
  thenNext(fate: Fate, marked: string, times?: number): void;
  /** Hands the server what was held back, and resolves when it has answered. */
  deliverLate(): Promise<void>;
  /** Nobody gets a connection any more, or everybody does again. */
  closeDoors(closed: boolean): void;
}

/** A TCP proxy in front of a server, closed when the test ends. */
export async function startCuttingProxy(port: number): Promise<CuttingProxy> {
  let planned: { fate: Fate; marked: string; left: number }[] = [];
  let closed = false;
  let late: Buffer | null = null;
  const sockets = new Set<Socket>();

  function fateOf(request: Buffer): Fate | null {
    const [now] = planned;
    if (now === undefined || !request.includes(now.marked)) return null;
    if (--now.left === 0) planned.shift();
    return now.fate;
  }

  const server = createServer((client) => {
    sockets.add(client);
    if (closed) return void client.destroy();
    const upstream = connect(port, "127.0.0.1");
    sockets.add(upstream);
    let request = Buffer.alloc(0);
    let mine: Fate | null = null;
    const end = (): void => void (client.destroy(), upstream.destroy());
    client.on("data", (chunk) => {
      request = Buffer.concat([request, chunk]);
      mine = fateOf(request);
      if (mine === "request lost") return end();
      if (mine === "request late") {
        late = request;
        return end();
      }
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      request = Buffer.alloc(0);
      if (mine === "answer lost, then away") closed = true;
      if (mine?.startsWith("answer lost")) return end();
      if (mine !== "no answer") client.write(chunk);
    });
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    next(fate, marked, times = 1) {
      planned = [{ fate, marked, left: times }];
    },
    thenNext: (fate, marked, times = 1) => void planned.push({ fate, marked, left: times }),
    async deliverLate() {
      const socket = connect(port, "127.0.0.1");
      sockets.add(socket);
      socket.write(late!);
      await once(socket, "data");
      socket.destroy();
    },
    closeDoors(now) {
      closed = now;
      if (now) for (const socket of sockets) socket.destroy();
    },
  };
}
