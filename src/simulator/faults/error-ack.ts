import { Armed, isTarget } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** Messages that are refused with an error in their ack and go nowhere. */
export function errorAck({ hooks, world }: Pick<FaultNeeds, "hooks" | "world">): FaultKit<"errorAck"> {
  const armed = new Armed();
  const disarms = new Map<string, Set<() => void>>();
  return {
    methods: {
      async errorAck({ to, code, times = 1, ...target }) {
        if (times === 0) {
          for (const end of disarms.get(target.number) ?? []) end();
          disarms.delete(target.number);
          return;
        }
        let left = times;
        const chat = to === undefined ? undefined : (world.find(to) ?? to);
        const disarm = armed.arm(hooks.verdict, (sender, message) => {
          if (!isTarget(target, sender)) return undefined;
          const into = world.find(message.attrs.to) ?? message.attrs.to;
          if (chat !== undefined && chat !== into) return undefined;
          if ((left -= 1) === 0) disarm();
          return code;
        });
        disarms.set(target.number, (disarms.get(target.number) ?? new Set()).add(disarm));
      },
    },
    clear() {
      armed.clear();
      disarms.clear();
    },
  };
}
