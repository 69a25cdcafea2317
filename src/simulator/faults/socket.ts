import type { SimulatorServer } from "../server/server.ts";
import { targets } from "./fault.ts";
import type { FaultKit } from "./fault.ts";

/** The line breaks without a word. */
export function socket(server: SimulatorServer): FaultKit<"dropSocket"> {
  return {
    methods: {
      async dropSocket(target) {
        for (const device of targets(server, target)) device.connection?.cut();
      },
    },
    clear() {},
  };
}
