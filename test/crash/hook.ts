import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Webhook } from "standardwebhooks";

/** A customer's server, for programs as well as tests. */
export interface Hook {
  url: string;
  /** Address of a small picture, for sends that name a file. */
  pictureUrl: string;
  /** Every call in the order in which they came; `at`: Unix milliseconds. */
  events: { chat: string; id: string; at: number }[];
  /** Secret that the customer knows; each event must be signed with it. */
  secret: string;
  /** Calls whose signature did not fit. */
  unsigned: number;
  close(): void;
}

/** The smallest PNG there is: one pixel. */
export const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/**
 * Answers every text that begins with `ask`, each call with another text: the gateway must take one of them.
 *
 * @param host   as the gateway sees it
 * @param idleMs for how long the next connection may be idle before it is closed without a word; default: as Node does
 */
export async function startHook(
  listenOn = "127.0.0.1",
  host = listenOn,
  idleMs?: () => number,
): Promise<Hook> {
  let calls = 0;
  const idle = new Map<Socket, NodeJS.Timeout>();
  const server = createServer(async (request, response) => {
    const { socket } = request;
    clearTimeout(idle.get(socket));
    if (idleMs !== undefined)
      response.once("finish", () =>
        idle.set(
          socket,
          setTimeout(() => socket.destroy(), idleMs()),
        ),
      );
    if (request.method === "GET") return void response.setHeader("content-type", "image/png").end(PICTURE);
    const text = await readText(request).catch(() => null);
    // Whoever asks was killed before all of it had left.
    if (text === null) return;
    if (!isSigned(hook.secret, request, text)) hook.unsigned++;
    const event = JSON.parse(text) as { chat: string; id: string; text: string };
    hook.events.push({ chat: event.chat, id: event.id, at: Date.now() });
    const answer = event.text.startsWith("ask") ? { message: `call ${++calls} about ${event.text}` } : {};
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  });
  // Zero: nobody is told for how long a connection is kept open.
  if (idleMs !== undefined) server.keepAliveTimeout = 0;
  server.on("connection", (socket) => socket.once("close", () => idle.delete(socket)));
  server.listen(0, listenOn);
  await once(server, "listening");
  const address = `http://${host}:${(server.address() as AddressInfo).port}`;
  const hook: Hook = {
    url: `${address}/hook`,
    pictureUrl: `${address}/picture.png`,
    events: [],
    secret: "",
    unsigned: 0,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return hook;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function isSigned(secret: string, { headers }: IncomingMessage, text: string): boolean {
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
