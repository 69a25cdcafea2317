import { IqError } from "../server/iq-error.ts";
import { children } from "../wire/nodes.ts";
import { Armed, isTarget } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** A kind of question; what is left out matches any. */
interface Question {
  xmlns: string;
  type?: "get" | "set";
  child?: string;
  context?: string;
}

const GROUP_QUESTIONS: Question = { xmlns: "w:g2", type: "get" };

/** Something was asked for too often: groups, unless another question is named. */
export function rateOverlimit({ hooks }: Pick<FaultNeeds, "hooks">): FaultKit<"rateOverlimit"> {
  const armed = new Armed();
  return {
    methods: {
      async rateOverlimit({ times = 1, backoff, of = GROUP_QUESTIONS as Question, ...target }) {
        let left = times;
        const disarm = armed.arm(hooks.iq, (device, iq) => {
          const { xmlns, type } = iq.attrs;
          const isIt =
            xmlns === of.xmlns &&
            (of.type === undefined || type === of.type) &&
            (of.child === undefined || children(iq)[0]?.tag === of.child) &&
            (of.context === undefined || children(iq)[0]?.attrs["context"] === of.context);
          if (!isIt || !isTarget(target, device)) return undefined;
          if ((left -= 1) <= 0) disarm();
          return new IqError(429, "rate-overlimit", { backoff });
        });
      },
    },
    clear: () => armed.clear(),
  };
}
