import type { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import type { Connection, Device } from "../world/accounts.ts";
import { SERVER_JID } from "../world/jid.ts";
import type { World } from "../world/world.ts";
import type { Backlog } from "./delivery/backlog.ts";
import type { DirtyBits } from "./accounts/dirty-bits.ts";
import type { Edges } from "./edges.ts";
import { firstAnswer } from "./hooks.ts";
import type { Hooks } from "./hooks.ts";
import type { Pairing } from "./linking/pairing.ts";
import type { Movement, Stamps } from "./ports.ts";

interface Needs extends Pick<Stamps, "now">, Movement, Backlog {
  dirtyBits: Pick<DirtyBits, "tell">;
  world: World;
  edges: Pick<Edges, "routingFor">;
  hooks: Pick<Hooks, "client" | "login">;
  pairing: Pick<Pairing, "register">;
}

/** What follows the handshake on a new connection. */
export interface Login {
  /** Decides on a client that has finished the handshake: a known companion logs in, a new one registers. */
  admit(connection: Connection, payload: proto.ClientPayload, noiseKey: Buffer): void;
  /** The client is ready for stanzas: the backlog comes first. On its first login it is also told that its groups are dirty. */
  activate(device: Device): void;
}

/** Admits whoever holds the Noise key that was linked. */
export function createLogin(needs: Needs): Login {
  return {
    activate: (device) => activate(needs, device),
    admit(connection, payload, noiseKey) {
      const unwanted = firstAnswer(needs.hooks.client, payload);
      if (unwanted) {
        connection.send(unwanted);
        connection.close();
        return;
      }
      if (payload.devicePairingData) {
        needs.pairing.register(connection, payload.devicePairingData, noiseKey);
        return;
      }
      const device = knownDevice(needs.world, payload, noiseKey);
      const refusal = device
        ? firstAnswer(needs.hooks.login, device)
        : element("failure", { reason: "401", location: "sim" });
      if (device && !refusal) return logIn(needs, connection, device, payload.passive === true);
      connection.send(refusal!);
      connection.close();
    },
  };
}

/** The companion that owns these credentials: number, device and Noise key must fit together. */
function knownDevice(world: World, payload: proto.ClientPayload, noiseKey: Buffer): Device | undefined {
  const account = world.find(String(payload.username ?? ""));
  const device = account?.devices.get(payload.device ?? 0);
  return device?.noiseKey?.equals(noiseKey) ? device : undefined;
}

function logIn(needs: Needs, connection: Connection, device: Device, passive: boolean): void {
  replaceEarlier(device);
  device.connection = connection;
  device.active = device.isDraining = false;
  connection.device = device;
  connection.send(successNode(needs, device));
  const routing = needs.edges.routingFor(device);
  connection.send(
    element("ib", { from: SERVER_JID }, [
      element("edge_routing", {}, [element("routing_info", {}, routing)]),
    ]),
  );
  if (!passive) activate(needs, device);
  needs.changed();
}

function successNode(needs: Needs, device: Device): BinaryNode {
  return element("success", {
    t: needs.now(),
    lid: device.lid,
    props: "27",
    location: "sim",
    display_name: device.account.name,
  });
}

/** One device has one connection: the later login wins. */
function replaceEarlier(device: Device): void {
  const earlier = device.connection;
  if (!earlier) return;
  earlier.send(element("stream:error", {}, [element("conflict", { type: "replaced" })]));
  earlier.close();
}

function activate(needs: Needs, device: Device): void {
  if (device.active) return;
  device.active = true;
  needs.flushOffline(device);
  needs.dirtyBits.tell(device);
  if (device.seen) return;
  device.seen = true;
  if (needs.world.groupsOf(device.account.number).length === 0) return;
  const dirty = element("dirty", { type: "groups", timestamp: needs.now() });
  device.connection?.send(element("ib", { from: SERVER_JID }, [dirty]));
}
