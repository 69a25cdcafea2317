import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { createGatewayClient } from "../../src/cli/gateway-client.ts";
import { startConversation, type Line } from "../../src/demo/conversation.ts";
import type { ArrivedMessage } from "../../src/simulator/types.ts";

const ANA = "4915100000001";

/** A gateway that answers each question about a message with the next of these; null: the connection breaks. */
async function gatewayThat(...answers: (number | null)[]) {
  const server = createServer((_request, response) => {
    const status = answers.shift() ?? null;
    if (status === null) return void response.destroy();
    const body =
      status === 200 ? { data: { origin: "bot:menu" } } : { errors: { code: "X" }, message: "No." };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return createGatewayClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

it("goes on when the gateway does not say what made a message", async () => {
  const arrived = ["one", "two", "three", "four"].map(
    (text, index) => ({ seq: index + 1, id: text, text, at: 0, kind: "text" }) as unknown as ArrivedMessage,
  );
  const lines: Line[] = [];
  const conversation = startConversation({
    simulator: {
      messages: async () => arrived,
      waitForMessage: () => new Promise(() => undefined),
      sendText: async () => ({ id: "x" }) as never,
    },
    gateway: await gatewayThat(404, 503, null, 200),
    number: "31600000001",
    contact: ANA,
    contactName: "Ana",
    onLine: (line) => lines.push(line),
  });
  const lost = vi.fn<(error: unknown) => void>();
  void conversation.lost.catch(lost);
  await vi.waitFor(() => expect(lines).toHaveLength(4), 5_000);
  expect(lines.map(({ text, speaker }) => [text, speaker.name])).toEqual([
    ["one", "number"],
    ["two", "number"],
    ["three", "number"],
    ["four", "bot menu"],
  ]);
  expect(lost).not.toHaveBeenCalled();
  conversation.end();
});
