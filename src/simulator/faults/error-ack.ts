import type { SimulatorServer } from "../server/server.ts";
import { Armed, isTarget } from "./fault.ts";
import type { FaultKit } from "./fault.ts";

/** Messages are refused with an error in their ack, and go nowhere. */
export function errorAck(server: SimulatorServer): FaultKit<"errorAck"> {
  const armed = new Armed();
  return {
    methods: {
      async errorAck({ to, code, times = 1, ...target }) {
        let left = times;
        const chat = to === undefined ? undefined : (server.world.find(to) ?? to);
        const disarm = armed.arm(server.hooks.verdict, (sender, message) => {
          if (!isTarget(target, sender)) return undefined;
          const into = server.world.find(message.attrs.to) ?? message.attrs.to;
          if (chat !== undefined && chat !== into) return undefined;
          if ((left -= 1) === 0) disarm();
          return code;
        });
      },
    },
    clear: () => armed.clear(),
  };
}
