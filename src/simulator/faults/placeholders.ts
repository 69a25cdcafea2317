import type { Population } from "../population.ts";
import { authorOf } from "../server/receipts.ts";
import type { SimulatorServer } from "../server/server.ts";
import { element } from "../wire/nodes.ts";
import { Armed, atLeastOne, isEncrypted, isTarget, targets } from "./fault.ts";
import type { FaultKit } from "./fault.ts";

/** Messages that reach a companion without content, as the service delivers what it has no ciphertext of for this device. */
export function placeholders(server: SimulatorServer, population: Population): FaultKit<"placeholders"> {
  const armed = new Armed();
  return {
    methods: {
      async placeholders({ n, type, phone = "answers", ...target }) {
        atLeastOne("n", n);
        const owner = population.owner(target.number);
        for (const device of targets(server, target)) {
          let left = n;
          const disarm = armed.arm(server.hooks.alter, (receiver, node) => {
            if (receiver !== device || !isTarget(target, device) || !isEncrypted(node)) return undefined;
            if ((left -= 1) <= 0) disarm();
            owner.answerPlaceholder(node.attrs.id!, phone);
            server.transcript.underway(device, authorOf(server, node), node.attrs.id!, { unavailable: true });
            return { ...node, content: [element("unavailable", { type })] };
          });
        }
      },
    },
    clear: () => armed.clear(),
  };
}
