import type { FaultTarget } from "../../surface/faults.ts";
import { Armed, isTarget } from "../fault.ts";
import type { FaultKit, FaultNeeds } from "../fault.ts";

/** A clock that is wrong, as companions see it. */
export function clock({ hooks }: Pick<FaultNeeds, "hooks">): FaultKit<"clockSkew"> {
  const armed = new Armed();
  const disarms = new Map<string, () => void>();
  return {
    methods: {
      async clockSkew({ seconds, number, device }) {
        if (!Number.isInteger(seconds)) throw new Error(`seconds must be a whole number, not ${seconds}`);
        const name = `${number ?? "all"}:${device ?? "all"}`;
        disarms.get(name)?.();
        disarms.delete(name);
        if (seconds === 0) return;
        const target: FaultTarget | undefined = number === undefined ? undefined : { number, device };
        const disarm = armed.arm(hooks.outgoing, (receiver, node) => {
          const isMeant = target ? isTarget(target, receiver) : receiver.account.kind === "owner";
          if (!isMeant || node.attrs.t === undefined) return undefined;
          return { ...node, attrs: { ...node.attrs, t: String(Number(node.attrs.t) + seconds) } };
        });
        disarms.set(name, disarm);
      },
    },
    clear() {
      armed.clear();
      disarms.clear();
    },
  };
}
