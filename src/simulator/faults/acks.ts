import type { Cancel } from "../time.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { Armed, isTarget } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";
import type { Connection } from "../world/accounts.ts";

interface HeldAck {
  number: string;
  connection: Connection;
  ack: BinaryNode;
}

/** Acks that are late, or held until they are released. */
export function acks({
  hooks,
  time,
}: Pick<FaultNeeds, "hooks" | "time">): FaultKit<"delayAcks" | "holdAcks" | "releaseAcks"> {
  const armed = new Armed();
  const late = new Set<Cancel>();
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
        const disarm = armed.arm(hooks.ack, (sender, ack, connection) => {
          if (!isTarget(target, sender)) return false;
          const cancel = time.after(ms, () => {
            late.delete(cancel);
            connection.send(ack);
          });
          late.add(cancel);
          return true;
        });
        replace(`delay ${target.number}`, disarm);
      },
      async holdAcks(target) {
        const disarm = armed.arm(hooks.ack, (sender, ack, connection) => {
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
      for (const cancel of late) cancel();
      late.clear();
      release();
    },
  };
}
