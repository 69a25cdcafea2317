import { targets } from "../fault.ts";
import type { FaultKit, FaultNeeds } from "../fault.ts";

/** The line breaks without a word. */
export function socket({ world }: Pick<FaultNeeds, "world">): FaultKit<"dropSocket"> {
  return {
    methods: {
      async dropSocket(target) {
        for (const device of targets(world, target)) device.connection?.cut();
      },
    },
    clear() {},
  };
}
