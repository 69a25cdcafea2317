import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the model was asked. */
export interface ChatRequest {
  path: string;
  headers: IncomingMessage["headers"];
  raw: Buffer;
  /** Of `/chat/completions`. */
  body: {
    model: string;
    messages: { role: string; content: string }[];
    tools: { function: { name: string } }[];
    stream: boolean;
    max_tokens: number;
  };
}

type Answer = (response: ServerResponse, request: ChatRequest, count: number) => unknown;

/** A server that speaks the chat API, and does what the test wants it to do. */
export interface ChatServer {
  url: string;
  seen: ChatRequest[];
  answer: Answer;
  close(): void;
}

export async function serveChat(): Promise<ChatServer> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const { url: path = "", headers } = request;
    const body = headers["content-type"] === "application/json" ? JSON.parse(raw.toString()) : {};
    const seen = { path, headers, raw, body } as ChatRequest;
    made.seen.push(seen);
    await made.answer(response, seen, made.seen.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const made: ChatServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen: [],
    answer: saying("Hello!"),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return made;
}

const event = (delta: object, reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;

/** The events of an answer, word by word. */
export const wordsOf = (text: string): string =>
  [
    ": comment\n\n",
    event({ role: "assistant" }),
    ...text.split(/(?<= )/).map((content) => event({ content })),
  ].join("");
export const eventsOf = (text: string): string => `${wordsOf(text)}${event({}, "stop")}data: [DONE]\n\n`;

/** The events of a call of a tool, its arguments in pieces. */
export const callOf = (name: string, args: string): string =>
  [
    event({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name, arguments: "" } }] }),
    ...(args.match(/.{1,3}/gs) ?? []).map((piece) =>
      event({ tool_calls: [{ index: 0, function: { arguments: piece } }] }),
    ),
    event({}, "tool_calls"),
    "data: [DONE]\n\n",
  ].join("");

/** Sends a text as events, in pieces of so many bytes. */
export async function stream(response: ServerResponse, events: string, size = 7): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const bytes = Buffer.from(events);
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size));
    if (at % (size * 20) === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

export const saying =
  (text: string): Answer =>
  (response) =>
    stream(response, eventsOf(text));
export const calling =
  (name: string, args: string): Answer =>
  (response) =>
    stream(response, callOf(name, args));
export const status =
  (code: number, headers: Record<string, string> = {}, body = '{"error":{"message":"no"}}'): Answer =>
  (response) => {
    response.writeHead(code, { "content-type": "application/json", ...headers });
    response.end(body);
  };
