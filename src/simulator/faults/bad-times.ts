import type { BadTime, FaultTarget } from "../surface/faults.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { element } from "../wire/nodes.ts";
import { Armed, atLeastOne, isMessage, isTarget } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** Any text that is not a number does. */
const NO_TIME = "not-a-time";

/** Receipts that say nothing of what became of a message at the other side: its own phone's copy, and requests. */
const NO_REPORT = new Set(["sender", "retry", "server-error"]);
const isReport = ({ tag, attrs }: BinaryNode): boolean =>
  tag === "receipt" && !NO_REPORT.has(attrs.type ?? "");

/** One that another of these faults has met already is left to it. */
const hasTime = ({ attrs }: BinaryNode): boolean => Number.isFinite(Number(attrs.t));

/** Stanzas whose `t` is not a time. They keep it when they are delivered again. */
export function badTimes({
  hooks,
}: Pick<FaultNeeds, "hooks">): FaultKit<"badMessageTimes" | "badReceiptTimes"> {
  const armed = new Armed();
  const arm = (target: FaultTarget, { n, t = NO_TIME }: BadTime, isMeant: (node: BinaryNode) => boolean) => {
    let left = atLeastOne("n", n);
    const disarm = armed.arm(hooks.alter, (receiver, node) => {
      if (!isTarget(target, receiver) || !isMeant(node) || !hasTime(node)) return undefined;
      if ((left -= 1) <= 0) disarm();
      return element(node.tag, { ...node.attrs, t: t ?? undefined }, node.content);
    });
  };
  return {
    methods: {
      async badMessageTimes({ n, t, ...target }) {
        arm(target, { n, t }, isMessage);
      },
      async badReceiptTimes({ n, t, ...target }) {
        arm(target, { n, t }, isReport);
      },
    },
    clear: () => armed.clear(),
  };
}
