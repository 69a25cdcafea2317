import type { BadTime, FaultTarget } from "../surface/faults.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { element } from "../wire/nodes.ts";
import { Armed, atLeastOne, isMessage, isTarget } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** Any text will do that is not a number. */
const NO_TIME = "not-a-time";

/** Receipts that say nothing about the other side: for the own phone's copy, and requests to send again. */
const NO_REPORT = new Set(["sender", "retry", "server-error"]);
const isReport = ({ tag, attrs }: BinaryNode): boolean =>
  tag === "receipt" && !NO_REPORT.has(attrs.type ?? "");

/** A stanza that another of these faults has already spoilt is left alone. */
const hasTime = ({ attrs }: BinaryNode): boolean => Number.isFinite(Number(attrs.t));

/** Stanzas whose `t` is not a time; they keep it when they are delivered again. */
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
