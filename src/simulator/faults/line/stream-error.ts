import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Device } from "../../world/accounts.ts";
import { targets } from "../fault.ts";
import type { FaultKit, FaultNeeds } from "../fault.ts";

/** A connection that ends with a stream error without a code, which says by its child what is wrong. */
export function streamError({ world }: Pick<FaultNeeds, "world">): FaultKit<"streamError"> {
  return {
    methods: {
      async streamError({ why, ...target }) {
        for (const device of targets(world, target)) {
          device.connection?.send(element("stream:error", {}, [complaint(device, why)]));
          device.connection?.close();
        }
      },
    },
    clear() {},
  };
}

function complaint(device: Device, why: "ack" | "xml-not-well-formed" | "other"): BinaryNode {
  if (why === "other") return element("system-shutdown");
  if (why !== "ack") return element(why);
  const owed = device.queue.waiting().find(({ sentOn }) => sentOn === device.connection)?.node;
  return element("ack", { class: owed?.tag ?? "notification", id: owed?.attrs.id ?? "1" });
}
