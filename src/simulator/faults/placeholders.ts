import { element } from "../wire/nodes.ts";
import { Armed, atLeastOne, isEncrypted, isTarget, targets } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** Messages that reach a companion without content, as happens when the service has no ciphertext for that device. */
export function placeholders({
  hooks,
  world,
  transcript,
  population,
}: Pick<FaultNeeds, "hooks" | "world" | "transcript" | "population">): FaultKit<"placeholders"> {
  const armed = new Armed();
  return {
    methods: {
      async placeholders({ n, type, phone = "answers", ...target }) {
        atLeastOne("n", n);
        const owner = population.owner(target.number);
        for (const device of targets(world, target)) {
          let left = n;
          const disarm = armed.arm(hooks.alter, (receiver, node) => {
            if (receiver !== device || !isTarget(target, device) || !isEncrypted(node)) return undefined;
            if ((left -= 1) <= 0) disarm();
            owner.answerPlaceholder(node.attrs.id!, phone);
            transcript.underway(device, world.authorOf(node), node.attrs.id!, { unavailable: true });
            return { ...node, content: [element("unavailable", { type })] };
          });
        }
      },
    },
    clear: () => armed.clear(),
  };
}
