import { hash } from "node:crypto";
import { RawResult, type HttpAnswer } from "../api/answers/envelope.ts";
import { requestId } from "../api/answers/respond.ts";
import type { CallOf } from "../api/call.ts";
import { failure, sayingWhy } from "../api/define-api.ts";
import { openApiAnswer } from "../api/documentation.ts";
import type { mcp } from "../api/endpoints/mcp.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { guidesFolder, openGuides } from "./guides.ts";
import {
  answerMessage,
  internalError,
  type CallToolResult,
  type Message,
  type ServerParts,
  type Resource,
} from "./server.ts";
import { isAllowed } from "./tool.ts";
import { TOOLS } from "./tools.ts";

type McpCall = CallOf<typeof mcp>;

const SESSION = "mcp-session-id";
const guides = openGuides(guidesFolder());

/**
 * Answers one message of an MCP client.
 *
 * @throws NOT_FOUND for a session that has ended; RATE_LIMITED for anything but a tool, which says it in its result;
 *   INVALID_PARAMETERS for what the protocol does not know
 */
export async function answerMcp(call: McpCall): Promise<RawResult> {
  const { app, caller, event, input } = call;
  const { headers } = event.req;
  const session = input.method === "initialize" ? null : headers.get(SESSION);
  if (session !== null && !app.mcpSessions.isOpen(session, caller.keyId)) throw sessionEnded();
  const limits: Record<string, string> = {};
  const count = async (): Promise<void> => {
    const { countedAs } = call.asker;
    if (countedAs !== null) Object.assign(limits, await event.context.rateLimit.take(countedAs));
  };
  // A tool says itself that there were too many.
  if (input.method !== "tools/call") await count();
  const response = await answerMessage(input satisfies Message, partsFor(call, session, count), {
    version: headers.get("mcp-protocol-version"),
    newSession: () => app.mcpSessions.open(caller.keyId),
  });
  const text = await response.text();
  if (response.status >= 400) throw notOfTheProtocol(text);
  const begun = response.headers.get(SESSION);
  return new RawResult(
    text,
    {
      "content-type": "application/json; charset=utf-8",
      ...limits,
      ...(begun !== null && { [SESSION]: begun }),
    },
    response.status,
  );
}

function partsFor(call: McpCall, session: string | null, count: () => Promise<void>): ServerParts {
  const { event, asker, caller } = call;
  const tools = TOOLS.filter((tool) => isAllowed(tool, caller));
  return {
    listTools: () =>
      tools.map(({ name, title, description, annotations, inputSchema }) => ({
        name,
        title,
        description,
        annotations,
        inputSchema: inputSchema as { type: "object" },
      })),
    async callTool(name, fields, id) {
      const once = session === null ? null : `mcp:${hash("sha256", `${session}:${id}`)}`;
      try {
        await count();
        const tool = TOOLS.find((known) => known.name === name);
        if (tool === undefined) throw new GatewayError("NOT_FOUND", "There is no such tool.");
        return toolResult(await tool.call({ event, asker, fields, once }));
      } catch (error) {
        return toolResult(sayingWhy(failure(event, error)));
      }
    },
    listResources: () => faultless(call, listResources),
    readResource: (uri) => faultless(call, () => readResource(uri)),
  };
}

/** What an endpoint answers over HTTP, as a tool's result: what its headers say stands in it. */
function toolResult({ httpStatus, body, headers = {} }: HttpAnswer): CallToolResult {
  const wait = headers["retry-after"];
  const told: Record<string, unknown> = {
    ...body,
    ...(wait !== undefined && { errors: { ...(body["errors"] as object), retry_after: Number(wait) } }),
    ...(headers["idempotency-replayed"] !== undefined && { replayed: true }),
  };
  return {
    isError: httpStatus >= 400,
    structuredContent: told,
    // The same for hosts that show their models text alone.
    content: [{ type: "text", text: JSON.stringify(told) }],
  };
}

const PAGES = "parley://docs/";
const OPENAPI = "parley://openapi.json";

async function listResources(): Promise<Resource[]> {
  const pages = (await guides.list()).map(({ name, title, bytes }) => ({
    uri: PAGES + name,
    name,
    title,
    mimeType: "text/markdown",
    size: bytes,
  }));
  const openApi = { uri: OPENAPI, name: "openapi.json", title: "Every endpoint, as OpenAPI 3.1" };
  return [...pages, { ...openApi, mimeType: "application/json" }];
}

async function readResource(uri: string) {
  if (uri === OPENAPI)
    return { uri, mimeType: "application/json", text: String((await openApiAnswer()).raw) };
  const text = uri.startsWith(PAGES) ? await guides.read(uri.slice(PAGES.length)) : null;
  return text === null ? null : { uri, mimeType: "text/markdown", text };
}

/** The SDK would tell the client what an error says. */
async function faultless<T>({ app, event }: McpCall, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    app.log.error({ err: error, requestId: requestId(event) }, "an MCP resource could not be read");
    throw internalError(requestId(event));
  }
}

const sessionEnded = (): GatewayError =>
  new GatewayError("NOT_FOUND", "This session has ended, or is another key's. Begin one with initialize.");

/** @param text the JSON-RPC error that the SDK's transport answers with */
function notOfTheProtocol(text: string): GatewayError {
  const { error } = JSON.parse(text) as { error: { message: string } };
  return new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields: { body: [error.message] } });
}
