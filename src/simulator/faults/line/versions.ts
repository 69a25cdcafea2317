import { element } from "../../wire/nodes.ts";
import { Armed } from "../fault.ts";
import type { FaultKit, FaultNeeds } from "../fault.ts";

/** Clients of an older version than this one are let in no more, whether they log in or want to be linked. */
export function versions({ hooks }: Pick<FaultNeeds, "hooks">): FaultKit<"refuseVersions"> {
  const armed = new Armed();
  return {
    methods: {
      async refuseVersions({ below }) {
        const least = below.split(".").map(Number);
        armed.clear();
        armed.arm(hooks.client, ({ userAgent }) => {
          const { primary = 0, secondary = 0, tertiary = 0 } = userAgent?.appVersion ?? {};
          const named = [primary, secondary, tertiary].map(Number);
          const at = named.findIndex((part, index) => part !== least[index]);
          const isOlder = at >= 0 && named[at]! < least[at]!;
          return isOlder ? element("failure", { reason: "405", location: "sim" }) : undefined;
        });
      },
    },
    clear: () => armed.clear(),
  };
}
