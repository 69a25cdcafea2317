import type { ResendForm } from "../surface/faults.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { Armed, atLeastOne, isEncrypted, isTarget, targets } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";
import type { Device } from "../world/accounts.ts";

type Needs = Pick<
  FaultNeeds,
  "hooks" | "world" | "book" | "delivered" | "deliver" | "violations" | "population"
>;

/** Messages that arrive twice: the very same stanza, or the same id with another ciphertext. */
export function resends(needs: Needs): FaultKit<"reencryptStanzas" | "redeliver"> {
  const { hooks, world, delivered } = needs;
  const armed = new Armed();
  return {
    methods: {
      async reencryptStanzas({ n, as = "retry", ...target }) {
        const again = new Set<string>();
        let left = atLeastOne("n", n);
        const disarm = armed.arm(hooks.transmitted, (device, node) => {
          const { id } = node.attrs;
          if (!id || again.has(id) || !isTarget(target, device) || !isEncrypted(node)) return;
          again.add(id);
          if ((left -= 1) <= 0) disarm();
          void encryptAnew(needs, device, node, as).catch((error: Error) =>
            needs.violations.report("simulator_error", device.label, error.message),
          );
        });
      },
      async redeliver({ id, as = "same", offline = false, ...target }) {
        const copies = targets(world, target).flatMap((device) => {
          const node = delivered.find(device, id);
          return node ? [{ device, node }] : [];
        });
        if (copies.length === 0) throw new Error(`${target.number} never got a message ${id}`);
        for (const { device, node } of copies) {
          if (as === "same") needs.deliver(device, marked(node, offline));
          else await deliverAnew(needs, armed, { device, node, as, offline });
          if (as === "send") return;
        }
      },
    },
    clear: () => armed.clear(),
  };
}

/** Has a message encrypted again, and marks the resulting stanza. */
async function deliverAnew(
  needs: Needs,
  armed: Armed,
  { device, node, as, offline }: { device: Device; node: BinaryNode; as: "retry" | "send"; offline: boolean },
): Promise<void> {
  const disarm = armed.arm(needs.hooks.alter, (receiver, stanza) => {
    if (receiver !== device || stanza.tag !== "message" || stanza.attrs.id !== node.attrs.id)
      return undefined;
    disarm();
    return marked(stanza, offline);
  });
  try {
    await encryptAnew(needs, device, node, as);
  } catch (error) {
    disarm();
    throw error;
  }
}

/** Sets the `offline` mark, or removes the one from an earlier delivery. */
function marked(node: BinaryNode, offline: boolean): BinaryNode {
  const { offline: _, ...attrs } = node.attrs;
  return { ...node, attrs: offline ? { ...attrs, offline: "0" } : attrs };
}

/** Has the author of a message send it again. */
async function encryptAnew(
  { world, book, population }: Needs,
  device: Device,
  node: BinaryNode,
  as: Exclude<ResendForm, "same">,
): Promise<void> {
  const id = node.attrs.id!;
  const author = world.authorOf(node);
  const booked = book.find(author, id);
  if (!booked) throw new Error(`message ${id} was sent too long ago to be sent again`);
  const one = { to: device.jid(booked.addressing), count: 1 };
  await population.person(author).resend(id, as === "retry" ? one : undefined);
}
