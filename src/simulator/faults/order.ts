import type { Random } from "../random.ts";
import type { QueuedStanza } from "../world/queue.ts";
import { Armed, atLeastOne, isMessage, isTarget, targets } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";
import type { Device } from "../world/accounts.ts";

/** Messages that are delivered in another order than they came in. */
export function order({
  hooks,
  world,
  random,
  flush,
}: Pick<FaultNeeds, "hooks" | "world" | "random" | "flush">): FaultKit<"reorderStanzas"> {
  const armed = new Armed();
  const kept = new Map<Device, QueuedStanza[]>();
  let shuffles = 0;
  const handOut = (device: Device, positions: number[]): void => {
    const stanzas = kept.get(device) ?? [];
    kept.delete(device);
    device.queue.rearrange(positions.map((position) => stanzas[position]!));
    for (const stanza of stanzas) stanza.held = false;
  };
  return {
    methods: {
      async reorderStanzas({ n, order: given, ...target }) {
        atLeastOne("n", n);
        if (given && !isPermutation(given, n)) {
          throw new Error(`order must have each number from 0 to ${n - 1} once, not [${given.join()}]`);
        }
        for (const device of targets(world, target)) {
          if (kept.has(device)) throw new Error(`messages to ${device.label} are being reordered already`);
          kept.set(device, []);
          const disarm = armed.arm(hooks.keep, (receiver, stanza) => {
            if (receiver !== device || !isTarget(target, device) || !isMessage(stanza.node)) return false;
            const stanzas = kept.get(device)!;
            stanzas.push(stanza);
            if (stanzas.length < n) return true;
            disarm();
            const stream = random.fork(`order:${device.label}:${++shuffles}`);
            handOut(device, given ?? shuffled(n, stream));
            return false;
          });
        }
      },
    },
    clear() {
      armed.clear();
      for (const [device, stanzas] of kept) {
        handOut(device, shuffled(stanzas.length, random.fork(`order:${device.label}:${++shuffles}`)));
        flush(device);
      }
    },
  };
}

function isPermutation(positions: number[], n: number): boolean {
  return (
    positions.length === n && positions.toSorted((a, b) => a - b).every((value, index) => value === index)
  );
}

/** The numbers from 0 up to and excluding `count` in another order; one or none stays as it is. */
function shuffled(count: number, random: Random): number[] {
  const positions = Array.from({ length: count }, (_, index) => index);
  for (let left = count; left > 1; left -= 1) {
    const taken = random.integer(left);
    [positions[left - 1], positions[taken]] = [positions[taken]!, positions[left - 1]!];
  }
  return positions.every((value, index) => value === index) ? positions.toReversed() : positions;
}
