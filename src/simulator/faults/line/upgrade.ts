import { Armed } from "../fault.ts";
import type { FaultKit, FaultNeeds } from "../fault.ts";

/** The WebSocket upgrade is refused with an HTTP status, as an overloaded front server does. */
export function upgrade({ hooks }: Pick<FaultNeeds, "hooks">): FaultKit<"refuseUpgrade"> {
  const armed = new Armed();
  return {
    methods: {
      async refuseUpgrade({ status, times = 1 }) {
        let left = times;
        const disarm = armed.arm(hooks.upgrade, () => {
          if ((left -= 1) === 0) disarm();
          return status;
        });
      },
    },
    clear: () => armed.clear(),
  };
}
