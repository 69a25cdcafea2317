import { Armed, isTarget } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** The end of the backlog is never announced: clients that wait for it wait in vain. */
export function offline({
  hooks,
}: Pick<FaultNeeds, "hooks">): FaultKit<"withholdOffline" | "restoreOffline"> {
  const armed = new Armed();
  const disarms = new Map<string, () => void>();
  return {
    methods: {
      async withholdOffline(target) {
        disarms.get(target.number)?.();
        disarms.set(
          target.number,
          armed.arm(hooks.withholdOffline, (device) => isTarget(target, device)),
        );
      },
      async restoreOffline(target) {
        disarms.get(target.number)?.();
        disarms.delete(target.number);
      },
    },
    clear() {
      armed.clear();
      disarms.clear();
    },
  };
}
