import { IqError } from "../server/iq-error.ts";
import { Armed, isTarget } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** Groups were asked for too often. */
export function rateOverlimit({ hooks }: Pick<FaultNeeds, "hooks">): FaultKit<"rateOverlimit"> {
  const armed = new Armed();
  return {
    methods: {
      async rateOverlimit({ times = 1, ...target }) {
        let left = times;
        const disarm = armed.arm(hooks.iq, (device, { attrs }) => {
          if (attrs.xmlns !== "w:g2" || attrs.type !== "get" || !isTarget(target, device)) return undefined;
          if ((left -= 1) <= 0) disarm();
          return new IqError(429, "rate-overlimit");
        });
      },
    },
    clear: () => armed.clear(),
  };
}
