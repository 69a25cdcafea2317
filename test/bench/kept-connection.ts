import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json } from "./gateway-client.ts";
import type { BenchGateway } from "./processes.ts";

/** A customer's program that keeps its connection to the gateway. */
export interface KeptConnection {
  /** @throws Error when the answer is not 2xx */
  post(path: string, body: Json): Promise<Json>;
  /** How many connections it has needed so far. */
  connections(): number;
}

export function keepConnection({ url }: Pick<BenchGateway, "url">, key: string): KeptConnection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const used = new Set<unknown>();
  return {
    connections: () => used.size,
    post: (path, body) =>
      new Promise((resolve, reject) => {
        const text = JSON.stringify(body);
        const headers = {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(text),
        };
        request(url + path, { method: "POST", agent, headers }, (response) => {
          let answer = "";
          response.setEncoding("utf8").on("data", (part: string) => (answer += part));
          response.once("error", reject).once("end", () => {
            if (response.statusCode! < 300) resolve(JSON.parse(answer) as Json);
            else reject(new Error(`POST ${path}: ${response.statusCode} ${answer}`));
          });
        })
          .once("socket", (socket) => used.add(socket))
          .once("error", reject)
          .end(text);
      }),
  };
}

/** A customer's webhook that answers each event with a text. */
export interface BenchWebhook {
  url: string;
  /** Connections and posts so far. */
  seen(): { connections: number; posts: number };
}

export async function startWebhook(): Promise<BenchWebhook> {
  let [connections, posts] = [0, 0];
  const server = createServer((asked, response) => {
    posts++;
    asked.resume().on("end", () => {
      response.setHeader("content-type", "application/json").end('{"message":"from the webhook"}');
    });
  })
    .on("connection", () => connections++)
    .listen(0, "127.0.0.1");
  // Longer than any pause between two rounds.
  server.keepAliveTimeout = 600_000;
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, seen: () => ({ connections, posts }) };
}
