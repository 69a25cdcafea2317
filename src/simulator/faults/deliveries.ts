import { Armed, isTarget, targets } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** Stanzas that stay at the server although their receiver is online. */
export function deliveries({
  hooks,
  world,
  flush,
}: Pick<FaultNeeds, "hooks" | "world" | "flush">): FaultKit<"holdDeliveries" | "releaseDeliveries"> {
  const armed = new Armed();
  const disarms = new Map<string, () => void>();
  const release = (number: string): void => {
    disarms.get(number)?.();
    disarms.delete(number);
    for (const device of world.account(number).devices.values()) flush(device);
  };
  return {
    methods: {
      async holdDeliveries(target) {
        targets(world, target);
        disarms.get(target.number)?.();
        disarms.set(
          target.number,
          armed.arm(hooks.hold, (device) => isTarget(target, device)),
        );
      },
      async releaseDeliveries(target) {
        release(target.number);
      },
    },
    clear() {
      armed.clear();
      for (const number of disarms.keys()) release(number);
    },
  };
}
