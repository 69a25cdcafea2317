import type { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Connection } from "./connection.ts";
import type { Device } from "./device.ts";
import { firstAnswer } from "./hooks.ts";
import { SERVER_JID } from "./jid.ts";
import type { SimulatorServer } from "./server.ts";

/** Decides on a client that has finished the handshake: a known companion logs in, a new one registers. */
export function admitClient(
  server: SimulatorServer,
  connection: Connection,
  payload: proto.ClientPayload,
  noiseKey: Buffer,
): void {
  if (payload.devicePairingData) {
    server.pairing.register(connection, payload.devicePairingData, noiseKey);
    return;
  }
  const device = knownDevice(server, payload, noiseKey);
  if (!device) {
    refuse(connection, element("failure", { reason: "401", location: "sim" }));
    return;
  }
  const refusal = firstAnswer(server.hooks.login, device);
  if (refusal) refuse(connection, refusal);
  else logIn(server, connection, device, payload.passive === true);
}

/** The companion that owns these credentials: number, device and Noise key must fit together. */
function knownDevice(
  server: SimulatorServer,
  payload: proto.ClientPayload,
  noiseKey: Buffer,
): Device | undefined {
  const account = server.world.find(String(payload.username ?? ""));
  const device = account?.devices.get(payload.device ?? 0);
  return device?.noiseKey?.equals(noiseKey) ? device : undefined;
}

function refuse(connection: Connection, node: BinaryNode): void {
  connection.send(node);
  connection.close();
}

function logIn(server: SimulatorServer, connection: Connection, device: Device, passive: boolean): void {
  replaceEarlier(device);
  device.connection = connection;
  device.active = false;
  connection.device = device;
  connection.send(
    element("success", {
      t: server.now(),
      lid: device.lid,
      props: "27",
      location: "sim",
      display_name: device.account.name,
    }),
  );
  connection.send(
    element("ib", { from: SERVER_JID }, [
      element("edge_routing", {}, [
        element("routing_info", {}, server.random.fork(`routing:${device.label}`).bytes(6)),
      ]),
    ]),
  );
  if (!passive) activate(server, device);
  server.changed();
}

/** One device has one connection: the later login wins. */
function replaceEarlier(device: Device): void {
  const earlier = device.connection;
  if (!earlier) return;
  earlier.send(element("stream:error", {}, [element("conflict", { type: "replaced" })]));
  earlier.close();
}

/** The client is ready for stanzas: offline ones first. The first login also learns that its groups are unknown. */
export function activate(server: SimulatorServer, device: Device): void {
  if (device.active) return;
  device.active = true;
  server.flushOffline(device);
  if (device.seen) return;
  device.seen = true;
  if (server.world.groupsOf(device.account.number).length === 0) return;
  const dirty = element("dirty", { type: "groups", timestamp: server.now() });
  device.connection?.send(element("ib", { from: SERVER_JID }, [dirty]));
}
