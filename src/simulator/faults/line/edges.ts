import type { FaultKit, FaultNeeds } from "../fault.ts";

/** Routing information that clients were given leads nowhere: the line is cut before the handshake. */
export function edges({ edges: given }: Pick<FaultNeeds, "edges">): FaultKit<"moveEdges"> {
  return {
    methods: {
      async moveEdges() {
        given.move();
      },
    },
    clear: () => undefined,
  };
}
