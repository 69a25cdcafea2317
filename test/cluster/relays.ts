import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { atExit } from "../_setup/at-exit.ts";
import type { Network, Service } from "./network.ts";

/** What goes between one node and one service. */
interface Wire {
  isCut: boolean;
  sockets: Set<Socket>;
}

/**
 * Loopback, with a TCP relay of our own between each node and each service, for systems that give no networks of their own. A
 * relay that is cut reads nothing: what was sent waits in the kernel, as it would be sent again on a network, connections
 * stand, and new ones come about but lead nowhere.
 */
export function relays(): Network {
  const wires = new Map<string, Wire>();
  const wireOf = (node: number, service: Service): Wire => {
    const name = `${node} ${service}`;
    const wire = wires.get(name) ?? { isCut: false, sockets: new Set() };
    wires.set(name, wire);
    return wire;
  };
  return {
    canCut: true,
    listenOn: "127.0.0.1",
    clientsHost: "127.0.0.1",
    async hostFor(node, service, port) {
      // All of 127.0.0.0/8 is this machine: the relay has the service's port at an address of its own.
      const host = `127.${90 + SERVICES.indexOf(service)}.${node}.1`;
      await relay(wireOf(node, service), host, port);
      return host;
    },
    join: async () => ({ prefix: [], host: "127.0.0.1" }),
    cut(node, service) {
      const wire = wireOf(node, service);
      wire.isCut = true;
      for (const socket of wire.sockets) socket.pause();
    },
    mend(node, service) {
      const wire = wireOf(node, service);
      wire.isCut = false;
      for (const socket of wire.sockets) socket.resume();
    },
  };
}

const SERVICES: Service[] = ["database", "redis", "whatsapp"];

async function relay(wire: Wire, host: string, port: number): Promise<void> {
  const server = createServer((client) => {
    const service = connect(port, "127.0.0.1");
    pass(wire, client, service);
    pass(wire, service, client);
  });
  server.listen(port, host);
  await once(server, "listening");
  server.unref();
  atExit(() => server.close());
}

function pass(wire: Wire, from: Socket, to: Socket): void {
  wire.sockets.add(from);
  from.on("data", (chunk) => {
    if (!to.write(chunk)) from.pause();
  });
  to.on("drain", () => wire.isCut || from.resume());
  from.on("error", () => undefined);
  from.on("close", () => {
    wire.sockets.delete(from);
    to.destroy();
  });
  if (wire.isCut) from.pause();
}
