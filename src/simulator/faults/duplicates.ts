import { Armed, isTarget } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** The same stanza twice, as happens when the service is not sure that the first one arrived. */
export function duplicates({ hooks }: Pick<FaultNeeds, "hooks">): FaultKit<"duplicateStanzas"> {
  const armed = new Armed();
  return {
    methods: {
      async duplicateStanzas({ n, ...target }) {
        let left = n;
        const disarm = armed.arm(hooks.repeat, (device, node) => {
          if (node.tag !== "message" || !isTarget(target, device)) return 0;
          if ((left -= 1) <= 0) disarm();
          return 1;
        });
      },
    },
    clear: () => armed.clear(),
  };
}
