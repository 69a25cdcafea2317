import type { FaultTarget } from "../../surface/faults.ts";
import type { FrameTrouble } from "../../wire/frame-writer.ts";
import { Armed, isTarget } from "../fault.ts";
import type { FaultKit, FaultNeeds } from "../fault.ts";

/** Frames that come slowly, in pieces, together, cut or damaged. */
export function frames({
  hooks,
}: Pick<FaultNeeds, "hooks">): FaultKit<
  "slowFrames" | "packFrames" | "splitFrames" | "truncateFrame" | "corruptFrame"
> {
  const armed = new Armed();
  const disarms = new Map<string, () => void>();
  /** From now on all frames to the target are in this trouble, until it is replaced or ended. */
  const always = (name: string, target: FaultTarget, trouble: FrameTrouble | undefined): void => {
    const key = `${name} ${target.number}:${target.device ?? "all"}`;
    disarms.get(key)?.();
    disarms.delete(key);
    if (!trouble) return;
    const disarm = armed.arm(hooks.frame, (device) => (isTarget(target, device) ? trouble : undefined));
    disarms.set(key, disarm);
  };
  /** The next frame, or the next with such a stanza, is. */
  const once = ({ tag, ...target }: FaultTarget & { tag?: string }, trouble: FrameTrouble): void => {
    const disarm = armed.arm(hooks.frame, (device, node) => {
      if (!isTarget(target, device) || (tag ?? node.tag) !== node.tag) return undefined;
      disarm();
      return trouble;
    });
  };
  return {
    methods: {
      async slowFrames({ bytesPerSecond, pieceBytes = 1, ...target }) {
        always("slow", target, bytesPerSecond > 0 ? { bytesPerSecond, pieceBytes } : undefined);
      },
      async packFrames({ ms, ...target }) {
        always("pack", target, ms > 0 ? { packMs: ms } : undefined);
      },
      async splitFrames({ bytes, ...target }) {
        always("split", target, bytes > 0 ? { pieceBytes: bytes } : undefined);
      },
      async truncateFrame({ how = "close", ...target }) {
        once(target, { truncate: how });
      },
      async corruptFrame(target) {
        once(target, { corrupt: true });
      },
    },
    clear() {
      armed.clear();
      disarms.clear();
    },
  };
}
