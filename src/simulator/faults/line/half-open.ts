import { Armed, targets } from "../fault.ts";
import type { FaultKit, FaultNeeds } from "../fault.ts";
import type { Connection } from "../../world/accounts.ts";

/** Connections that look alive and are not, wholly or on the side of what is delivered. */
export function halfOpen({
  hooks,
  world,
  flush,
}: Pick<FaultNeeds, "hooks" | "world" | "flush">): FaultKit<"halfOpen" | "endHalfOpen" | "deaf" | "endDeaf"> {
  const armed = new Armed();
  const frozen = new Map<Connection, string>();
  const deafened = new Map<Connection, { number: string; disarm: () => void }>();
  const thaw = (how: "resume" | "drop", number?: string): number => {
    const ending = [...frozen].filter(([, owner]) => number === undefined || owner === number);
    for (const [connection] of ending) {
      frozen.delete(connection);
      if (how === "drop") connection.cut();
      connection.thaw?.();
    }
    return ending.length;
  };
  const hear = (number?: string): void => {
    for (const [connection, { number: owner, disarm }] of deafened) {
      if (number !== undefined && owner !== number) continue;
      disarm();
      deafened.delete(connection);
      if (connection.device) flush(connection.device);
    }
  };
  return {
    methods: {
      async halfOpen(target) {
        for (const { connection } of targets(world, target)) {
          if (!connection?.freeze || frozen.has(connection)) continue;
          frozen.set(connection, target.number);
          connection.freeze();
        }
      },
      async endHalfOpen({ number, how = "drop" }) {
        return thaw(how, number);
      },
      async deaf(target) {
        for (const device of targets(world, target)) {
          const { connection } = device;
          if (!connection || deafened.has(connection)) continue;
          const disarm = armed.arm(hooks.hold, (held) => held === device && held.connection === connection);
          deafened.set(connection, { number: target.number, disarm });
        }
      },
      async endDeaf({ number }) {
        hear(number);
      },
    },
    clear() {
      thaw("drop");
      hear();
      armed.clear();
    },
  };
}
