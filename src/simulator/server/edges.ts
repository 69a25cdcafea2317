import type { Random } from "../random.ts";
import type { ServiceBehaviour } from "../surface/behaviour.ts";
import type { Device } from "../world/accounts.ts";
import type { World } from "../world/world.ts";

const BYTES = 6;

interface Needs {
  world: World;
  random: Random;
  behaviour: ServiceBehaviour;
}

/** Which of the service's servers a client is to be led to: bytes that it is given at login, and sends before the next handshake. */
export interface Edges {
  /** What a device is given. */
  routingFor(device: Device): Buffer;
  /** Whether a connection with these bytes comes to a server that takes it. Without any it does. */
  leadOn(routing: Buffer | undefined): boolean;
  /** Nothing that was given until now leads anywhere. */
  move(): void;
}

/**
 * Gives every device bytes of its own. Sources: whatsapp-rust `wacore/noise/src/edge_routing.rs`; zapo `WaConnectionManager` (a client
 * that cannot connect with them tries without).
 */
export function createEdges({ world, random, behaviour }: Needs): Edges {
  let moves = 0;
  const given = (label: string): Buffer =>
    random.fork(`routing:${label}${moves > 0 ? `:${moves}` : ""}`).bytes(BYTES);
  return {
    routingFor: ({ label }) => given(label),
    leadOn(routing) {
      if (routing === undefined || !behaviour.edgeRouting) return true;
      for (const { kind, number, nextDevice } of world.accounts.values()) {
        if (kind !== "owner") continue;
        // A device that was removed is told so behind the edge.
        for (let id = 1; id < nextDevice; id++) if (given(`${number}:${id}`).equals(routing)) return true;
      }
      return false;
    },
    move: () => void (moves += 1),
  };
}
