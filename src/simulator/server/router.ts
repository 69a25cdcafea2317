import { element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { handleAck } from "./acks.ts";
import type { Connection } from "./connection.ts";
import { anyHook } from "./hooks.ts";
import { handleChatState } from "./chat-state.ts";
import { answerIq } from "./iq/index.ts";
import { handleMessage } from "./messages.ts";
import { handleReceipt } from "./receipts.ts";
import type { SimulatorServer } from "./server.ts";

export type StanzaHandler = (server: SimulatorServer, connection: Connection, node: BinaryNode) => void;

/** Which handler takes which stanza. */
const stanzaHandlers: Record<string, StanzaHandler> = {
  iq: answerIq,
  message: handleMessage,
  receipt: handleReceipt,
  ack: handleAck,
  presence: handlePresence,
  chatstate: handleChatState,
  // Telemetry has no answer; it is in the stanza log.
  ib: () => {},
};

/** Stanzas that a client may send before it is linked. */
const BEFORE_LOGIN = new Set(["iq", "ack", "ib", "presence"]);

/** Hands a client's stanza to its handler. */
export function route(server: SimulatorServer, connection: Connection, node: BinaryNode): void {
  if (anyHook(server.hooks.received, connection, node)) return;
  const handler = stanzaHandlers[node.tag];
  const who = connection.device?.label ?? "unlinked";
  if (!handler || (!connection.device && !BEFORE_LOGIN.has(node.tag))) {
    server.violations.report("unknown_stanza", who, `<${node.tag}> is not understood here`);
    return;
  }
  try {
    handler(server, connection, node);
  } catch (error) {
    // A fault of the simulator must show up in the test, and must not end the process for everybody else.
    server.violations.report(
      "simulator_error",
      who,
      error instanceof Error ? (error.stack ?? "") : String(error),
    );
  }
  for (const hook of server.hooks.handled.slice()) hook(connection, node);
  server.changed();
}

/** The connection is gone: its device goes offline, a registration ends. */
export function disconnected(server: SimulatorServer, connection: Connection): void {
  server.connections.delete(connection);
  server.pairing.forget(connection);
  const { device } = connection;
  if (device?.connection === connection) {
    device.connection = undefined;
    device.active = false;
  }
  server.changed();
}

function handlePresence(server: SimulatorServer, connection: Connection, node: BinaryNode): void {
  const { type, name, to } = node.attrs;
  if (connection.device && name && type !== "subscribe") connection.device.account.name = name;
  if (type === "subscribe" && to && server.world.find(to)) {
    connection.send(element("presence", { from: to, type: "unavailable", last: "deny" }));
  }
}
