import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** One request that the webhook receiver got. */
export interface ReceivedEvent {
  headers: IncomingMessage["headers"];
  /** As it came, for signatures. */
  text: string;
  body: Record<string, any>;
}

export interface Receiver {
  url: string;
  events: ReceivedEvent[];
  /** What it answers from now on. A string is the body; a function may also take its time or answer by itself. */
  answer:
    | string
    | object
    | ((
        event: ReceivedEvent,
        response: ServerResponse,
      ) => Promise<string | object | void> | string | object | void);
  status: number;
}

/** A customer's server: keeps every event, answers as the test says. Ends with the test. */
export async function startReceiver(answer: Receiver["answer"] = ""): Promise<Receiver> {
  const receiver: Receiver = { url: "", events: [], answer, status: 200 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const event: ReceivedEvent = { headers: request.headers, text, body: JSON.parse(text) };
    receiver.events.push(event);
    const { status } = receiver;
    const said =
      typeof receiver.answer === "function" ? await receiver.answer(event, response) : receiver.answer;
    if (response.writableEnded || said === undefined) return;
    response.statusCode = status;
    response.end(typeof said === "string" ? said : JSON.stringify(said));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return receiver;
}
