import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestWebhook } from "../options.ts";

/** A webhook on loopback. */
export interface Receiver {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** @param failed told when the test's function threw; the answer is then 500 */
export async function startReceiver(answer: TestWebhook, failed: (error: Error) => void): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const said = await answer(JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
      response.end(
        said === undefined ? "" : JSON.stringify(typeof said === "string" ? { message: said } : said),
      );
    } catch (error) {
      failed(error as Error);
      response.writeHead(500).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
