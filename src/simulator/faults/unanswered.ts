import { children } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { Armed, atLeastOne, isTarget } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

const isQuestion = ({ tag, attrs }: BinaryNode): boolean =>
  tag === "iq" && (attrs.type === "get" || attrs.type === "set");

/** IQs that get lost: nothing happens and no answer comes, so it is up to the client to stop waiting. */
export function unanswered({ hooks }: Pick<FaultNeeds, "hooks">): FaultKit<"unansweredIqs"> {
  const armed = new Armed();
  return {
    methods: {
      async unansweredIqs({ xmlns, type, child, times = 1, ...target }) {
        let left = atLeastOne("times", times);
        const disarm = armed.arm(hooks.received, ({ device }, node) => {
          if (!isQuestion(node) || !isTarget(target, device)) return false;
          if (xmlns !== undefined && node.attrs.xmlns !== xmlns) return false;
          if (type !== undefined && node.attrs.type !== type) return false;
          if (child !== undefined && children(node)[0]?.tag !== child) return false;
          if ((left -= 1) <= 0) disarm();
          return true;
        });
      },
    },
    clear: () => armed.clear(),
  };
}
