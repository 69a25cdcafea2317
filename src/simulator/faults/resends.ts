import type { Population } from "../population.ts";
import type { Device } from "../server/device.ts";
import { authorOf } from "../server/receipts.ts";
import type { SimulatorServer } from "../server/server.ts";
import type { ResendForm } from "../types.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { Armed, atLeastOne, isEncrypted, isTarget, targets } from "./fault.ts";
import type { FaultKit } from "./fault.ts";

/** A message that comes again: the very stanza, or with the same id and another ciphertext. */
export function resends(
  server: SimulatorServer,
  population: Population,
): FaultKit<"reencryptStanzas" | "redeliver"> {
  const armed = new Armed();
  return {
    methods: {
      async reencryptStanzas({ n, as = "retry", ...target }) {
        const again = new Set<string>();
        let left = atLeastOne("n", n);
        const disarm = armed.arm(server.hooks.transmitted, (device, node) => {
          const { id } = node.attrs;
          if (!id || again.has(id) || !isTarget(target, device) || !isEncrypted(node)) return;
          again.add(id);
          if ((left -= 1) <= 0) disarm();
          void encryptAnew(server, population, device, node, as).catch((error: Error) =>
            server.violations.report("simulator_error", device.label, error.message),
          );
        });
      },
      async redeliver({ id, as = "same", offline = false, ...target }) {
        const copies = targets(server, target).flatMap((device) => {
          const node = server.delivered.find(device, id);
          return node ? [{ device, node }] : [];
        });
        if (copies.length === 0) throw new Error(`${target.number} never got a message ${id}`);
        for (const { device, node } of copies) {
          if (as === "same") server.deliver(device, marked(node, offline));
          else await deliverAnew(device, node, as, offline);
          if (as === "send") return;
        }
      },
    },
    clear: () => armed.clear(),
  };

  async function deliverAnew(
    device: Device,
    node: BinaryNode,
    as: "retry" | "send",
    offline: boolean,
  ): Promise<void> {
    const disarm = armed.arm(server.hooks.alter, (receiver, stanza) => {
      if (receiver !== device || stanza.tag !== "message" || stanza.attrs.id !== node.attrs.id)
        return undefined;
      disarm();
      return marked(stanza, offline);
    });
    try {
      await encryptAnew(server, population, device, node, as);
    } catch (error) {
      disarm();
      throw error;
    }
  }
}

/** The mark of what waited at the service; a mark of an earlier delivery is taken away. */
function marked(node: BinaryNode, offline: boolean): BinaryNode {
  const { offline: _, ...attrs } = node.attrs;
  return { ...node, attrs: offline ? { ...attrs, offline: "0" } : attrs };
}

/** Has the one who wrote a message send it again. */
async function encryptAnew(
  server: SimulatorServer,
  population: Population,
  device: Device,
  node: BinaryNode,
  as: Exclude<ResendForm, "same">,
): Promise<void> {
  const id = node.attrs.id!;
  const author = authorOf(server, node);
  const booked = server.book.find(author, id);
  if (!booked) throw new Error(`message ${id} was sent too long ago to be sent again`);
  const one = { to: device.jid(booked.addressing), count: 1 };
  await population.person(author).resend(id, as === "retry" ? one : undefined);
}
