import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";

/** A customer's own system, in its smallest form: it takes what no bot answered and answers it. */
export interface Receiver {
  url: string;
  /** The secret that the gateway signs with; before it is set every event is refused. */
  trust(secret: string): void;
  /** While it is down, everything is answered with 503. */
  refuse(down: boolean): void;
  /** How many events it has taken, and how many it has turned away. */
  counts(): { taken: number; refused: number };
  close(): Promise<void>;
}

/** What the receiver answers to a text, or to something without one. */
export const receiverAnswer = (text: string): string =>
  text === "" ? "We have got it and will write back today." : `We read “${text}” and will write back today.`;

/** Starts the receiver on a free port of loopback. Events without a valid signature get 401. @param onEvent called for each */
export async function startReceiver(onEvent: () => void = () => {}): Promise<Receiver> {
  let secret: string | null = null;
  let isDown = false;
  const counts = { taken: 0, refused: 0 };
  const server = createServer(async (request, response) => {
    const event = await readEvent(request, secret);
    if (isDown || !event) counts.refused += 1;
    else counts.taken += 1;
    onEvent();
    if (isDown) return void response.writeHead(503).end();
    response.statusCode = event ? 200 : 401;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(event ? { message: receiverAnswer(event.message) } : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    trust(next) {
      secret = next;
    },
    refuse(down) {
      isDown = down;
    },
    counts: () => ({ ...counts }),
    close: () => close(server),
  };
}

async function readEvent(
  request: IncomingMessage,
  secret: string | null,
): Promise<{ message: string } | null> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (secret === null) return null;
  try {
    const headers = request.headers as Record<string, string>;
    return new Webhook(secret).verify(Buffer.concat(chunks).toString("utf8"), headers) as { message: string };
  } catch {
    return null;
  }
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
