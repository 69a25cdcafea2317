import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { Answer } from "./client.ts";
import type { World } from "./world.ts";

/** What a tool has answered. */
export interface ToolAnswer {
  isError: boolean;
  /** As it is told to programs. */
  body: Record<string, any>;
  /** As it is told to a model. */
  text: string;
}

export interface McpClient {
  client: Client;
  /** Of the session, as the gateway has named it. */
  session: string;
  call(name: string, given?: Record<string, unknown>): Promise<ToolAnswer>;
  tools(): Promise<string[]>;
}

/** The SDK's own client over HTTP, initialized; it ends with the test. @param key default: the world's */
export async function connectMcp({ gateway, key }: Pick<World, "gateway" | "key">): Promise<McpClient> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  // Of all that it has as optional, TypeScript wants to know whether it may be undefined.
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  onTestFinished(() => client.close());
  return {
    client,
    session: transport.sessionId!,
    async call(name, given = {}) {
      const result = await client.callTool({ name, arguments: given });
      const [content] = result.content as { type: string; text: string }[];
      return {
        isError: result.isError === true,
        body: result.structuredContent as Record<string, any>,
        text: content!.text,
      };
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
  };
}

/** One message as a client of any kind may send it, checked against the documentation like every answer. */
export function postMcp(
  { gateway, key }: Pick<World, "gateway" | "key">,
  message: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return gateway.post("/mcp", { jsonrpc: "2.0", ...message }, { key, headers });
}
