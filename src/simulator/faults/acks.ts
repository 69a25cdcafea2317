import type { Connection } from "../server/connection.ts";
import type { SimulatorServer } from "../server/server.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { Armed, isTarget } from "./fault.ts";
import type { FaultKit } from "./fault.ts";

interface HeldAck {
  number: string;
  connection: Connection;
  ack: BinaryNode;
}

/** Acks that come late, or only when they are let go. */
export function acks(server: SimulatorServer): FaultKit<"delayAcks" | "holdAcks" | "releaseAcks"> {
  const armed = new Armed();
  const timers = new Set<NodeJS.Timeout>();
  const disarms = new Map<string, () => void>();
  let held: HeldAck[] = [];
  const replace = (name: string, disarm?: () => void): void => {
    disarms.get(name)?.();
    if (disarm) disarms.set(name, disarm);
    else disarms.delete(name);
  };
  const release = (number?: string): number => {
    const going = held.filter((entry) => number === undefined || entry.number === number);
    held = held.filter((entry) => !going.includes(entry));
    for (const { connection, ack } of going) connection.send(ack);
    return going.length;
  };
  return {
    methods: {
      async delayAcks({ ms, ...target }) {
        replace(`delay ${target.number}`);
        if (ms <= 0) return;
        const disarm = armed.arm(server.hooks.ack, (sender, ack, connection) => {
          if (!isTarget(target, sender)) return false;
          const timer = setTimeout(() => {
            timers.delete(timer);
            connection.send(ack);
          }, ms);
          timers.add(timer);
          return true;
        });
        replace(`delay ${target.number}`, disarm);
      },
      async holdAcks(target) {
        const disarm = armed.arm(server.hooks.ack, (sender, ack, connection) => {
          if (!isTarget(target, sender)) return false;
          held.push({ number: target.number, connection, ack });
          return true;
        });
        replace(`hold ${target.number}`, disarm);
      },
      async releaseAcks(target) {
        replace(`hold ${target.number}`);
        return release(target.number);
      },
    },
    clear() {
      armed.clear();
      disarms.clear();
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      release();
    },
  };
}
