import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Duplex } from "node:stream";
import type { buildConnector } from "undici";

/** For what speaks by Node's own `http` and `https`: every connection of theirs is made by `connector`. */
export function createNodeAgent(
  connector: buildConnector.connector,
  protocol: "http:" | "https:",
): HttpAgent {
  const agent = protocol === "https:" ? new HttpsAgent() : new HttpAgent();
  agent.createConnection = ({ host, port, ...options }, callback) => {
    const hostname = host ?? "localhost";
    const { servername } = options as { servername?: string };
    connector(
      { hostname, host: hostname, protocol, port: String(port ?? ""), ...(servername && { servername }) },
      (error, socket) => callback?.(error, socket as Duplex),
    );
    return undefined;
  };
  return agent;
}
