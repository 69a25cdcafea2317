import { element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import { Armed, isTarget, targets } from "../fault.ts";
import type { FaultKit, FaultNeeds } from "../fault.ts";
import type { Device } from "../../world/accounts.ts";

/** What the real service sends to a live connection before it ends it. */
const FAREWELLS: Record<number, () => BinaryNode> = {
  411: () => element("ib", {}, [element("downgrade_webclient")]),
  428: () => element("xmlstreamend"),
  440: () => element("stream:error", {}, [element("conflict", { type: "replaced" })]),
  515: () => element("stream:error", { code: "515" }),
};

/** Codes that the real service gives as an answer to a login; on a live connection they are stream errors. */
const farewell = (code: number): BinaryNode =>
  FAREWELLS[code]?.() ?? element("stream:error", { code: String(code) });

/** Ends connections with each of the codes a client can meet. */
export function close({
  hooks,
  world,
  deviceLists,
}: Pick<FaultNeeds, "hooks" | "world" | "deviceLists">): FaultKit<"close"> {
  const armed = new Armed();
  const now = (device: Device, code: number): void => {
    if (code === 401) deviceLists.remove(device);
    else if (code === 408) fallSilent(device);
    else {
      device.connection?.send(farewell(code));
      device.connection?.close();
    }
  };
  /** Nothing is answered and nothing is pushed any more: the client must notice by itself. */
  const fallSilent = (device: Device): void => {
    const silenced = device.connection;
    armed.arm(hooks.received, (connection) => connection === silenced);
    armed.arm(hooks.hold, (held) => held === device && held.connection === silenced);
  };
  return {
    methods: {
      async close({ code, atLogin, times = 1, expire, banCode, ...target }) {
        const devices = targets(world, target);
        const online = devices.filter((device) => device.connection);
        if (!atLogin && online.length > 0) {
          for (const device of online) now(device, code);
          return;
        }
        let left = times;
        const disarm = armed.arm(hooks.login, (device) => {
          if (!isTarget(target, device)) return undefined;
          if ((left -= 1) === 0) disarm();
          const ban = code === 402 ? { code: banCode?.toString(), expire: expire?.toString() } : {};
          return FAREWELLS[code]?.() ?? element("failure", { reason: String(code), location: "sim", ...ban });
        });
      },
    },
    clear: () => armed.clear(),
  };
}
